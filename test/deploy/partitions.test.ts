// Orders split by account, as docs/growing.md describes: the service runs on hash partitions without a change, and its
// work for one account uses only that account's partition.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import pg from 'pg';
import { type Customer, startShop, type TestShop } from '../../services/orders/test/shop.ts';

const script = fileURLToPath(new URL('../../deploy/postgres/partition-orders.sql', import.meta.url));
const tables = [
  'orders',
  'order_lines',
  'order_history',
  'reservations',
  'order_payments',
  'payment_ledger',
  'archived_orders',
];

let shop: TestShop;
let productId: string;
let early: Customer;
let customers: Customer[];

beforeAll(async () => {
  shop = await startShop({ environment: { ORDER_PENDING_HOURS: '0' } });
  productId = await shop.product({ stock: 1_000, price: 5 });
  early = await shop.customer();
  expect(await shop.order(early, { [productId]: 2 })).toMatchObject({ status: 201 });

  await shop.services.service('orders').kill();
  await query(await readFile(script, 'utf8'));
  await shop.services.service('orders').restart();
  customers = await Promise.all(Array.from({ length: 24 }, () => shop.customer()));
  for (const customer of customers) expect((await shop.order(customer, { [productId]: 1 })).status).toBe(201);
});

afterAll(async () => {
  await shop.stop();
});

/** The query runs in a separate session, because PostgreSQL publishes the statistics of a session when it ends. */
async function query<Row extends pg.QueryResultRow>(statement: string, values?: readonly unknown[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: shop.services.database.urls.orders });
  await client.connect();
  const { rows } = await client.query<Row>(statement, values === undefined ? undefined : [...values]);
  await client.end();
  return rows;
}

/** The number of reads and of written rows of each table. */
async function usage(): Promise<ReadonlyMap<string, number>> {
  const rows = await query<{ name: string; used: string }>(
    `SELECT relname AS name, coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del AS used
     FROM pg_stat_user_tables WHERE schemaname = 'orders' AND relname ~ '_\\d+$'`,
  );
  return new Map(rows.map(({ name, used }) => [name, Number(used)]));
}

async function partitionOf({ accountId }: Customer): Promise<string | undefined> {
  const rows = await query('SELECT tableoid::regclass::text AS name FROM orders WHERE account_id = $1', [accountId]);
  return rows[0]?.name.replace('orders_', '');
}

/**
 * Returns the partitions that the service reads or writes for `work`. The service is stopped, so that its statistics
 * are published.
 */
async function touched(work: () => Promise<void>): Promise<string[]> {
  const orders = shop.services.service('orders');
  await orders.kill();
  const before = await usage();
  await orders.restart();
  await work();
  await orders.kill();
  const after = await usage();
  await orders.restart();
  return [...after]
    .filter(([name, used]) => used > (before.get(name) ?? 0))
    .map(([name]) => name)
    .sort();
}

describe('the tables of orders in hash partitions', () => {
  it('contain the former rows, and distribute new ones', async () => {
    const { body } = await shop.orders.get('/v1/orders', { token: early.token });
    expect(body.items).toHaveLength(1);
    expect(body.items[0]).toMatchObject({ totalCost: 10, itemsSummary: [{ productId, quantity: 2 }] });
    const partitions = new Set(await Promise.all(customers.map(partitionOf)));
    // The probability that 24 accounts are in fewer than 6 of 16 partitions is less than one in a hundred thousand.
    expect(partitions.size).toBeGreaterThanOrEqual(6);
    const rows = await query("SELECT count(*)::int AS left FROM pg_tables WHERE tablename LIKE '%\\_whole'");
    expect(rows).toEqual([{ left: 0 }]);
  });

  it('count orders that are cancelled', async () => {
    const count = async () => (await query('SELECT sum(orders)::int AS orders FROM finished_orders'))[0]?.orders ?? 0;
    const customer = await shop.customer();
    const { body } = await shop.order(customer, { [productId]: 1 });
    const before = await count();
    expect(await shop.act(customer, body.id, 'cancel')).toMatchObject({ status: 200 });
    expect(await count()).toBe(before + 1);
    // The released stock is the last change of the order. It must not count as a change of another test.
    await eventually(async () =>
      expect((await shop.view(customer, body.id)).body.cancellation.stockReleased.state).toBe('done'),
    );
  });

  it('are read and written in one partition by every operation of a customer', async () => {
    const [customer = early] = customers;
    const { token } = customer;
    const own = await partitionOf(customer);
    const names = await touched(async () => {
      const placed = await shop.order(customer, { [productId]: 3 });
      expect(placed.status).toBe(201);
      const path = `/v1/orders/${placed.body.id}`;
      for (const read of [
        path,
        `${path}/history`,
        '/v1/orders',
        '/v1/orders?limit=1&sort=totalCost:asc',
        '/v1/orders?status=pending,cancelled&createdAt=gte:2020-01-01T00:00:00.000Z',
      ]) {
        const answer = await shop.orders.get(read, { token });
        expect([read, answer.status]).toEqual([read, 200]);
        const { nextCursor } = answer.body.pagination ?? {};
        if (nextCursor === undefined) continue;
        const next = `${read}&cursor=${encodeURIComponent(nextCursor)}`;
        expect(await shop.orders.get(next, { token })).toMatchObject({ status: 200 });
      }
      expect(await shop.act(customer, placed.body.id, 'cancel')).toMatchObject({ status: 200 });
      const { accountId } = customer;
      const rows = await query('SELECT reservation_id AS id FROM orders WHERE account_id = $1', [accountId]);
      const resolved = await shop.internal('orders', '/internal/reservations/settle', {
        reservationId: rows[0]?.id,
        accountId,
      });
      expect(resolved).toMatchObject({ status: 200, body: { state: 'exists' } });
    });
    // These tables are excluded, because customers do not report payments, and the shop continuously looks for unpaid
    // orders of all accounts.
    const others = /^(order_payments|payment_ledger)_/;
    const expected = tables.map((table) => `${table}_${own}`).filter((name) => !others.test(name));
    expect(names.filter((name) => !others.test(name))).toEqual(expected.sort());
  });

  it('are all searched for an id whose account staff does not name', async () => {
    const rows = await query('SELECT id FROM orders LIMIT 1');
    const names = await touched(async () => {
      expect(await shop.orders.get(`/v1/orders/${rows[0]?.id}`, { token: shop.staff.token })).toMatchObject({
        status: 200,
      });
    });
    expect(names.filter((name) => /^orders_\d+$/.test(name))).toHaveLength(16);
    expect(names.filter((name) => /^order_lines_\d+$/.test(name))).toHaveLength(1);
  });

  it('are merged for the list of all accounts, in its order', async () => {
    const list = async (query: string) => (await shop.orders.get(`/v1/orders?accountId=all&${query}`, shop.staff)).body;
    const { items } = await list('status=pending&sort=createdAt:asc&limit=100');
    const rows = await query("SELECT id FROM orders WHERE status = 'pending' ORDER BY created_at, id");
    expect(items.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    const plan = await query('EXPLAIN (FORMAT JSON) SELECT id FROM orders ORDER BY created_at, id LIMIT 20');
    expect(JSON.stringify(plan)).toContain('Merge Append');
  });

  it('refuse a second use of a reservation in any partition', async () => {
    const [, customer = early] = customers;
    const key = { headers: { 'Idempotency-Key': 'a-used-up-reservation' } };
    const first = await shop.order(customer, { [productId]: 1 }, key);
    expect(first.status).toBe(201);
    // Simulates a crash that lost the reply. The same key leads to the same reservation, which an order has used.
    await query("DELETE FROM idempotency_keys WHERE key = 'a-used-up-reservation'");
    const second = await shop.order(customer, { [productId]: 1 }, key);
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('are planned for one partition when the account is known, and for all when only the id is known', async () => {
    const rows = await query('SELECT id, account_id FROM orders LIMIT 1');
    const partitions = async (condition: string, values: unknown[]): Promise<number> => {
      const plan = await query(`EXPLAIN (FORMAT JSON) SELECT 1 FROM orders WHERE ${condition}`, values);
      return new Set(JSON.stringify(plan).match(/"Relation Name":"orders_\d+"/g)).size;
    };
    expect(await partitions('id = $1 AND account_id = $2', [rows[0]?.id, rows[0]?.account_id])).toBe(1);
    expect(await partitions('id = $1', [rows[0]?.id])).toBe(16);
  });
});
