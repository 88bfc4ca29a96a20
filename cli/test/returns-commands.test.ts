// The commands of returns, on a running shop.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { askShop, launchShop, runShop, type StartedShop } from './started-shop.ts';

interface Return {
  readonly id: string;
  readonly status: string;
}

const password = 'a short and loud brook';
let folder: string;
let dataDir: string;
let shop: StartedShop;
let orderId: string;
let products: readonly string[];
let request: (...units: number[]) => Promise<string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-returns-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  shop = await launchShop({ dataDir });
  await shop.ready;
  const client = createShop({ baseUrl: shop.gateway });
  const email = `${newId()}@example.com`;
  await client.call.POST('/v1/accounts', { body: { email, name: 'Kim', password } });
  await client.logIn({ email, password });
  const page = await fetch(`${shop.gateway}/v1/products?inStock=true&limit=2`);
  products = ((await page.json()) as { items: { id: string }[] }).items.map(({ id }) => id);
  const ordered = products.map((productId) => ({ productId, quantity: 4 }));
  const address = { street_address: 'Lindenweg 4', city: 'Berlin', postal_code: '10115', country: 'DE' };
  orderId = (await client.orders.place({ items: ordered, shipping_address: address })).id;
  for (const step of ['process', 'ship']) await askShop(dataDir, 'orders', step, orderId);
  request = async (...units) => {
    const lines = units.flatMap((quantity, index) =>
      quantity === 0 ? [] : [{ productId: products[index] ?? '', quantity, reason: 'damaged' as const }],
    );
    return (await client.orders.createReturn(orderId, { lines, comment: 'It is broken.' })).id;
  };
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

const ask = <T = Return>(...parameters: string[]): Promise<T> => askShop<T>(dataDir, 'returns', ...parameters);

it('returns lists and shows returns as tables, with the next steps', async () => {
  const [first, second] = [await request(1), await request(1)];
  await ask('approve', first);
  expect(await ask<Return[]>('list', '--order', orderId)).toMatchObject([{ id: second }, { id: first }]);
  expect(await ask<Return[]>('list', '--status', 'approved')).toMatchObject([{ id: first }]);
  const { output } = await runShop(dataDir, 'returns', 'list', '--limit', '1');
  expect(output).toMatch(/^RETURN +STATUS +REQUESTED +ORDER +ITEMS\n/);
  expect(output).toContain(`Next page: --before ${second}`);
  const { output: shown } = await runShop(dataDir, 'returns', 'show', first);
  expect(shown).toContain(`Return ${first} of order ${orderId}`);
  expect(shown).toContain('Comment: "It is broken."');
  expect(shown).toContain(
    `Next: npm run shop -- returns refuse ${first} --reason TEXT, or npm run shop -- returns receive ${first}`,
  );
  for (const id of [first, second])
    expect(await ask('refuse', id, '--reason', 'Worn')).toMatchObject({ status: 'refused' });
});

it('returns receive records everything by default, and otherwise what --arrived and --unsellable name', async () => {
  const [cup = '', plate = ''] = products;
  const whole = await ask('receive', await request(1, 1));
  expect(whole).toMatchObject({
    status: 'received',
    lines: [
      { received: 1, restock: true },
      { received: 1, restock: true },
    ],
  });
  await eventually(async () => expect(await ask('show', whole.id)).toMatchObject({ stockReturned: { state: 'done' } }));
  const id = await request(2, 1);
  expect(await ask('receive', id, '--arrived', `${cup}=1`, '--unsellable', cup)).toMatchObject({
    lines: [
      { productId: cup, received: 1, restock: false },
      { productId: plate, received: 0, restock: true },
    ],
  });
  const { output } = await runShop(dataDir, 'orders', 'show', orderId);
  expect(output).toMatch(/^QUANTITY +CANCELLED +RETURNED +PRODUCT +TOTAL\n4 +2 +\S.+ EUR\n4 +1 +\S.+ EUR$/m);
});

it('returns reports a missing return, a refused step and wrong units', async () => {
  const unknown = newId();
  expect(await runShop(dataDir, 'returns', 'show', unknown)).toMatchObject({
    code: 1,
    complaints: `there is no return ${unknown}: npm run shop -- returns list shows the newest\n`,
  });
  const id = await request(1);
  const more = await runShop(dataDir, 'returns', 'receive', id, '--arrived', `${products[0]}=9`);
  expect(more).toMatchObject({ code: 1, complaints: expect.stringContaining('9 have arrived, the return has 1.') });
  await ask('refuse', id, '--reason', 'Worn');
  expect(await runShop(dataDir, 'returns', 'approve', id)).toMatchObject({
    code: 1,
    complaints: 'A return that is refused cannot become approved.\n',
  });
  expect((await runShop(dataDir, 'returns', 'receive', id, '--arrived', 'cup')).code).toBe(2);
});
