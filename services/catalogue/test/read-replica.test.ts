// DATABASE_READ_URL: lists of customers are read on the replica, and staff always sees its last change.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  eventually,
  type ReplicatedPostgres,
  startReplicatedPostgres,
  startServices,
  type TestService,
  type TestServices,
} from '@shop/shared/testing';
import { replicaAddress } from '../src/config.ts';
import { addProducts, staffToken } from './products.ts';

const recovery = 30_000;
let postgres: ReplicatedPostgres;
let services: TestServices;
let catalogue: TestService;
let readUrl: string;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  // The databases of this file are created on the server that has a replica.
  process.env.SHOP_TEST_ADMIN_URL = postgres.primaryUrl;
  services = await startServices(['catalogue'], { shared: false });
  catalogue = services.service('catalogue');
  const { host } = new URL(postgres.replicaUrl);
  readUrl = Object.assign(new URL(services.database.urls.catalogue), { host, username: '', password: '' }).href;
});
afterAll(async () => {
  await services.stop();
  await postgres.stop();
});

/** Restarts the service and waits until it reads the replica. */
async function startReading(maximumLag: number): Promise<void> {
  const before = catalogue.output().length;
  await catalogue.restart({ DATABASE_READ_URL: readUrl, DATABASE_READ_LAG_MS: String(maximumLag) });
  await eventually(() => expect(catalogue.output().slice(before)).toContain('the replica is read'), recovery);
}

const listed = async (name: string, token?: string): Promise<number> => {
  const as = token === undefined ? {} : { token };
  const [list, search] = await Promise.all([
    catalogue.client.get(`/v1/products?name=${name}`, as),
    catalogue.client.post('/v1/products/search', { body: { filters: { name: { eq: name } } }, ...as }),
  ]);
  expect([list.status, search.status]).toEqual([200, 200]);
  return list.body.items.length + search.body.items.length;
};
const inBoth = 2;

it('the replica connection uses its own login only if the URL contains one', () => {
  const databaseUrl = 'postgres://catalogue_2:pa$$word@one:5432,two:5432/shop';
  const read = (url: string) => replicaAddress(url, databaseUrl);
  expect(read('postgres://replica/shop?a=b@c')).toBe('postgres://catalogue_2:pa$$word@replica/shop?a=b@c');
  expect(read('postgres://reader:secret@replica/shop')).toBe('postgres://reader:secret@replica/shop');
});

describe('while the replica is suspended', () => {
  it('customers see the data of the suspended replica, and staff see the product that they have just added', async () => {
    await startReading(600_000);
    await addProducts(services, [{ name: 'before' }]);
    await eventually(async () => expect(await listed('before')).toBe(inBoth), recovery);
    await postgres.replay(false);
    try {
      const [productId] = await addProducts(services, [{ name: 'after' }]);
      expect(await listed('after', await staffToken(services))).toBe(inBoth);
      // The service may stop using the replica for a moment when the machine pauses.
      for (const token of [undefined, await services.issuer.sign(), 'no-token-at-all'])
        await eventually(async () => expect(await listed('after', token)).toBe(0), recovery);
      expect(await catalogue.client.get(`/v1/products/${productId}`)).toMatchObject({ status: 200 });
    } finally {
      await postgres.replay(true);
    }
    await eventually(async () => expect(await listed('after')).toBe(inBoth), recovery);
  });

  it('customers see the data of the primary once the replica lags too far', async () => {
    await startReading(1_000);
    await postgres.replay(false);
    try {
      await addProducts(services, [{ name: 'newer' }]);
      await eventually(async () => expect(await listed('newer')).toBe(inBoth), recovery);
      await eventually(() => expect(catalogue.output()).toContain('it may be more than 1000 ms behind the primary'));
    } finally {
      await postgres.replay(true);
    }
  });
});

it('no request fails when the replica dies', async () => {
  await startReading(1_000);
  await addProducts(services, [{ name: 'steady' }]);
  await eventually(async () => expect(await listed('steady')).toBe(inBoth), recovery);
  let over = false;
  const asking = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!over) expect(await listed('steady')).toBe(inBoth);
    }),
  );
  const before = catalogue.output().length;
  const said = (line: string) => eventually(() => expect(catalogue.output().slice(before)).toContain(line), recovery);
  try {
    await postgres.killReplica();
    await said('the replica is not used');
    await postgres.startReplica();
    await said('the replica is read');
  } finally {
    over = true;
    await asking;
  }
});
