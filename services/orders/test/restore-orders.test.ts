// Restoring all archived orders, for a shop that returns to an earlier version.
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { restoreArchivedOrders } from '../src/operator/index.ts';
import { orderColumns } from '../src/order-rows.ts';
import { type Archive, openArchive } from './archived.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let archive: Archive;
let customer: Customer;
let product: string;

beforeAll(async () => {
  shop = await startShop();
  archive = openArchive(shop, await shop.customer('payments:write'));
  product = await shop.product({ stock: 5_000, price: 5 });
  customer = await shop.customer();
});
afterAll(() => shop.stop());
/** Removes the archived orders, so that no test sees those of another test. */
afterEach(() => archive.database.query('UPDATE orders SET updated_at = now()'));

const live = { live: 1, archived: 0 };
const archived = { live: 0, archived: 1 };

/** Adds copies of an order to the archive, which differ only in their ids. */
const copy = (id: string, count: number) =>
  archive.database.query(
    `INSERT INTO archived_orders (${orderColumns}, document)
     SELECT gen_random_uuid(), account_id, gen_random_uuid(), ${orderColumns.split(',').slice(3).join()}, document
     FROM archived_orders, generate_series(1, $2::int) WHERE id = $1`,
    [id, count],
  );

it('moves each order back with its rows, and goes on after it was interrupted', async () => {
  expect(await restoreArchivedOrders(archive.environment)).toEqual({ restored: 0, archived: 0 });
  const ids = [await archive.delivered(customer, product), await archive.cancelled(customer, product)];
  await archive.pay(ids[0] ?? '', 40);
  await archive.age(ids);
  const before = await archive.allRows(ids);
  const views = async () => Promise.all(ids.map(async (id) => (await shop.view(customer, id)).body));
  const shown = await views();
  expect(await archive.archive()).toBe(2);
  await copy(ids[1] ?? '', 1_100);

  const seen: number[][] = [];
  const interrupted = restoreArchivedOrders(archive.environment, (...figures) => {
    seen.push(figures);
    if (seen.length === 2) throw new Error('interrupted');
  });
  await expect(interrupted).rejects.toThrow('interrupted');
  expect(seen).toEqual([
    [500, 1_102],
    [1_000, 1_102],
  ]);
  expect(await restoreArchivedOrders(archive.environment)).toEqual({ restored: 102, archived: 0 });
  expect(await archive.allRows(ids)).toEqual(before);
  expect(await views()).toEqual(shown);
});

it('reports the orders that others are changing', async () => {
  const id = await archive.delivered(customer, product);
  const busy = await archive.cancelled(customer, product);
  await archive.age([id, busy]);
  await archive.archive();
  const other = await archive.database.connect();
  await other.query('BEGIN');
  await other.query('SELECT FROM archived_orders WHERE id = $1 FOR UPDATE', [busy]);
  expect(await restoreArchivedOrders(archive.environment)).toEqual({ restored: 1, archived: 1 });
  await other.query('ROLLBACK');
  other.release();
  expect([await archive.placeOf(id), await archive.placeOf(busy)]).toEqual([live, archived]);
  expect(await restoreArchivedOrders(archive.environment)).toEqual({ restored: 1, archived: 0 });
});

it('loses no change that is made meanwhile', async () => {
  const owner = await shop.customer();
  const ids = await Promise.all(Array.from({ length: 12 }, () => archive.cancelled(owner, product)));
  await archive.age(ids);
  expect(await archive.archive()).toBe(12);
  const passes = Array.from({ length: 3 }, () => restoreArchivedOrders(archive.environment));
  const answers = await Promise.all(ids.map((id) => archive.pay(id, 5)));
  await Promise.all(passes);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  for (const id of ids) {
    expect(await archive.placeOf(id)).toEqual(live);
    expect((await shop.view(owner, id)).body.payment).toMatchObject({ refundDue: 5 });
  }
});
