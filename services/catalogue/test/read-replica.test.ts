// With DATABASE_READ_URL: customers' lists come from the replica, staff always sees what it has just changed.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  eventually,
  type ReplicatedPostgres,
  startReplicatedPostgres,
  startServices,
  type TestService,
  type TestServices,
} from '@shop/shared/testing';
import { addProducts, staffToken } from './products.ts';

const recovery = 30_000;
let postgres: ReplicatedPostgres;
let services: TestServices;
let catalogue: TestService;
let readUrl: string;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  // The databases of this file are made on the server that has a replica.
  process.env.SHOP_TEST_ADMIN_URL = postgres.primaryUrl;
  services = await startServices(['catalogue']);
  catalogue = services.service('catalogue');
  readUrl = Object.assign(new URL(services.database.urls.catalogue), { port: new URL(postgres.replicaUrl).port }).href;
});
afterAll(async () => {
  await services.stop();
  await postgres.stop();
});

/** Starts the service anew and waits until it reads the replica. */
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

describe('while the replica stands still', () => {
  it('customers see what it has, staff what it has just added', async () => {
    await startReading(600_000);
    await addProducts(services, [{ name: 'before' }]);
    await eventually(async () => expect(await listed('before')).toBe(inBoth), recovery);
    await postgres.replay(false);
    try {
      const [productId] = await addProducts(services, [{ name: 'after' }]);
      expect(await listed('after', await staffToken(services))).toBe(inBoth);
      // For a moment passed over where the machine stands still.
      for (const token of [undefined, await services.issuer.sign(), 'no-token-at-all'])
        await eventually(async () => expect(await listed('after', token)).toBe(0), recovery);
      expect(await catalogue.client.get(`/v1/products/${productId}`)).toMatchObject({ status: 200 });
    } finally {
      await postgres.replay(true);
    }
    await eventually(async () => expect(await listed('after')).toBe(inBoth), recovery);
  });

  it('customers see the primary once the replica is too old', async () => {
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

it('a replica that dies costs no request', async () => {
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
