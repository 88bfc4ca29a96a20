// The exact numbers of orders by state.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { countOrders } from '../src/operator/index.ts';
import { addUpFinishedOrders } from '../src/order/count-orders.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let productId: string;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
  productId = await shop.product({ stock: 1_000 });
});
afterAll(() => shop?.stop());

const database = () => shop.services.service('orders').database;
const counts = () => countOrders({ DATABASE_URL: shop.services.database.urls.orders });

/** Counts the orders with a scan of the whole table. */
async function scanned(): Promise<object> {
  const none = { pending: 0, processing: 0, shipped: 0, delivered: 0, cancelled: 0 };
  const { rows } = await database().query('SELECT status, count(*)::int AS orders FROM orders GROUP BY status');
  return { ...none, ...Object.fromEntries(rows.map(({ status, orders }) => [status, orders])) };
}

async function place(): Promise<string> {
  return (await shop.order(customer, { [productId]: 1 })).body.id;
}

/** Inserts rows of pending orders. */
async function insert(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await database().query(
    `INSERT INTO orders (id, account_id, reservation_id, status, currency, total_minor)
     SELECT id, $2, gen_random_uuid(), 'pending', 'EUR', 1 FROM unnest($1::uuid[]) AS id`,
    [ids, customer.accountId],
  );
  return ids;
}

const rowsOfFinished = async (): Promise<number> =>
  (await database().query('SELECT FROM finished_orders')).rowCount ?? 0;

it('the counts of orders are those of every transition, and of a cancellation that changes nothing', async () => {
  expect(await counts()).toEqual({ pending: 0, processing: 0, shipped: 0, delivered: 0, cancelled: 0 });
  const [, cancelled = '', delivered = '', processing = '', shipped = ''] = await Promise.all(
    Array.from({ length: 5 }, place),
  );
  await Promise.all(Array.from({ length: 5 }, () => shop.act(customer, cancelled, 'cancel')));
  for (const id of [processing, shipped, delivered]) await shop.act(shop.staff, id, 'process');
  for (const id of [shipped, delivered]) await shop.act(shop.staff, id, 'ship');
  for (let count = 0; count < 2; count += 1) await shop.act(shop.staff, delivered, 'deliver');
  expect(await counts()).toEqual({ pending: 1, processing: 1, shipped: 1, delivered: 1, cancelled: 1 });
});

it('the counts of orders stay exact while rows are added up and orders are finished', async () => {
  const ids = await insert(600);
  const before = await counts();
  let finished = false;
  const adding = Promise.all(
    Array.from({ length: 2 }, async () => {
      while (!finished) await addUpFinishedOrders(database());
    }),
  );
  const totals = new Set<number>();
  const counting = (async () => {
    while (!finished) totals.add(Object.values(await counts()).reduce((sum, orders) => sum + orders, 0));
  })();
  await Promise.all(
    ids.map((id, index) =>
      database().query("UPDATE orders SET status = $2 WHERE id = $1 AND status = 'pending'", [
        id,
        index % 3 === 0 ? 'delivered' : 'shipped',
      ]),
    ),
  );
  finished = true;
  await Promise.all([adding, counting]);
  const after = await counts();
  expect([after.delivered - before.delivered, after.shipped - before.shipped]).toEqual([200, 400]);
  expect(after).toEqual(await scanned());
  expect([...totals]).toEqual([Object.values(before).reduce((sum, orders) => sum + orders, 0)]);
  while ((await rowsOfFinished()) >= 100) await addUpFinishedOrders(database());
  const rows = await rowsOfFinished();
  await addUpFinishedOrders(database());
  expect(await rowsOfFinished()).toBe(rows);
  expect(await counts()).toEqual(after);
});

it('the counts of orders stay exact when sums are added up again', async () => {
  const before = await counts();
  for (let round = 1; round <= 2; round += 1) {
    const ids = await insert(150);
    await database().query("UPDATE orders SET status = 'delivered' WHERE id = ANY ($1::uuid[])", [ids]);
    await addUpFinishedOrders(database());
    expect(await rowsOfFinished()).toBeLessThan(100);
    expect(await counts()).toEqual({ ...before, delivered: before.delivered + 150 * round });
  }
});

it('the counts of orders do not change with a transaction that is rolled back', async () => {
  const [id = ''] = await insert(1);
  const before = await counts();
  const client = await database().connect();
  await client.query('BEGIN');
  await client.query("UPDATE orders SET status = 'delivered' WHERE id = $1", [id]);
  await client.query('ROLLBACK');
  client.release();
  expect(await counts()).toEqual(before);
});

it('the counts of orders include the orders from before the migration', async () => {
  const before = await counts();
  const client = await database().connect();
  try {
    await client.query('BEGIN');
    await client.query('DROP TABLE finished_orders; DROP FUNCTION count_finished_order() CASCADE');
    await client.query(await readFile(new URL('../migrations/0019_finished_orders.sql', import.meta.url), 'utf8'));
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  expect(await counts()).toEqual(before);
});
