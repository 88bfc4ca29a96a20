// Orders split by account, as docs/growing/partitions.md describes: the service runs on hash partitions without a
// change, and its work for one account uses only that account's partition.
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventually } from '@shop/shared/testing';
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
  'returns',
  'invoices',
];
/**
 * Payments are excluded from the comparisons, because customers do not report them, and the shop continuously looks for
 * unpaid orders, and for old invoices, of all accounts.
 */
const isCompared = (name: string): boolean => !/^(order_payments|payment_ledger|invoices)_/.test(name);

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

const isReleased = (customer: Customer, id: string): Promise<void> =>
  eventually(async () => expect((await shop.view(customer, id)).body.cancellation.stockReleased.state).toBe('done'));

/** Publishes the event with which notifications reports the e-mail about a cancelled order. */
async function reportEmail({ accountId }: Customer, orderId: string): Promise<void> {
  const [id, type, now] = [newId(), 'notification.sent.v1', new Date().toISOString()];
  const data = { orderId, accountId, kind: 'order-cancelled', outcome: 'done', sentAt: now };
  const content = JSON.stringify({
    ...{ specversion: '1.0', id, source: '/tests', type, subject: orderId, time: now, requestid: 'test', data },
    sequence: '0000000002',
  });
  const transport = await connectTestTransport(shop.services.database.urls.events);
  await transport.publish([{ id, type, content }]);
  await transport.close();
}

describe('the tables of orders in hash partitions', () => {
  it('the tables of orders in hash partitions contain the previous rows, and distribute new ones', async () => {
    const { body } = await shop.orders.get('/v1/orders', { token: early.token });
    expect(body.items).toHaveLength(1);
    expect(body.items[0]).toMatchObject({ totalCost: 10, itemsSummary: [{ productId, quantity: 2 }] });
    const partitions = new Set(await Promise.all(customers.map(partitionOf)));
    // The probability that 24 accounts are in fewer than 6 of 16 partitions is less than one in a hundred thousand.
    expect(partitions.size).toBeGreaterThanOrEqual(6);
    const rows = await query("SELECT count(*)::int AS left FROM pg_tables WHERE tablename LIKE '%\\_whole'");
    expect(rows).toEqual([{ left: 0 }]);
  });

  it('the tables of orders in hash partitions count orders that are cancelled', async () => {
    const count = async () => (await query('SELECT sum(orders)::int AS orders FROM finished_orders'))[0]?.orders ?? 0;
    const customer = await shop.customer();
    const { body } = await shop.order(customer, { [productId]: 1 });
    const before = await count();
    expect(await shop.act(customer, body.id, 'cancel')).toMatchObject({ status: 200 });
    expect(await count()).toBe(before + 1);
    // The released stock is the last change of the order. It must not count as a change of another test.
    await isReleased(customer, body.id);
  });

  it('the tables of orders in hash partitions are read and written in one partition by every operation of a customer', async () => {
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
        '/v1/returns',
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
      const unit = { body: { lines: [{ productId, quantity: 1 }] } };
      expect(await shop.act(customer, placed.body.id, 'cancel', unit)).toMatchObject({ status: 200 });
      expect(await shop.act(customer, placed.body.id, 'cancel')).toMatchObject({ status: 200 });
      await isReleased(customer, placed.body.id);
      const { accountId } = customer;
      const rows = await query('SELECT reservation_id AS id FROM orders WHERE account_id = $1', [accountId]);
      const resolved = await shop.internal('orders', '/internal/reservations/settle', {
        reservationId: rows[0]?.id,
        accountId,
      });
      expect(resolved).toMatchObject({ status: 200, body: { state: 'exists' } });
    });
    const expected = tables.map((table) => `${table}_${own}`).filter(isCompared);
    expect(names.filter(isCompared)).toEqual(expected.sort());
  });

  it('the tables of orders in hash partitions are read and written in one partition by the events that follow a cancellation', async () => {
    const [, customer = early] = customers;
    const own = await partitionOf(customer);
    const { body } = await shop.order(customer, { [productId]: 2 });
    const names = await touched(async () => {
      expect(await shop.act(customer, body.id, 'cancel')).toMatchObject({ status: 200 });
      await isReleased(customer, body.id);
      await reportEmail(customer, body.id);
      await eventually(async () =>
        expect((await shop.view(customer, body.id)).body.cancellation).toMatchObject({
          customerNotified: { state: 'done' },
        }),
      );
    });
    expect(names).toContain(`orders_${own}`);
    expect(names.filter((name) => isCompared(name) && !name.endsWith(`_${own}`))).toEqual([]);
  });

  it('the tables of orders in hash partitions are all searched for an id whose account staff does not name', async () => {
    const [, , customer = early] = customers;
    const own = await partitionOf(customer);
    const { body } = await shop.order(customer, { [productId]: 1 });
    const names = await touched(async () => {
      expect(await shop.view(shop.staff, body.id)).toMatchObject({ status: 200 });
      for (const step of ['process', 'ship', 'deliver']) {
        expect(await shop.act(shop.staff, body.id, step)).toMatchObject({ status: 200 });
      }
    });
    const isSearched = (name: string): boolean => /^orders_\d+$/.test(name);
    expect(names.filter(isSearched)).toHaveLength(16);
    const others = names.filter((name) => isCompared(name) && !isSearched(name));
    expect(others).toEqual([`order_history_${own}`, `order_lines_${own}`]);
  });

  it('the tables of orders in hash partitions cannot be tables of other servers', async () => {
    await withClient({ url: shop.services.database.adminUrl }, async (client) => {
      await client.query(`
        CREATE FOREIGN DATA WRAPPER elsewhere;
        CREATE SERVER elsewhere FOREIGN DATA WRAPPER elsewhere;
        CREATE SCHEMA split;
        CREATE TABLE split.orders (LIKE orders.orders INCLUDING ALL) PARTITION BY HASH (account_id)`);
      await expect(
        client.query(`
          CREATE FOREIGN TABLE split.orders_0 PARTITION OF split.orders FOR VALUES WITH (MODULUS 16, REMAINDER 0)
          SERVER elsewhere`),
      ).rejects.toThrow('cannot create foreign partition of partitioned table "orders"');
    });
  });

  it('the tables of orders in hash partitions get no index from a file `….concurrently.sql`, which PostgreSQL would reject', async () => {
    const folder = new URL('../../services/orders/migrations/', import.meta.url);
    const names = (await readdir(folder)).filter((name) => name.endsWith('.concurrently.sql'));
    const files = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
    const indexed = files.flatMap((text) => [
      ...text.matchAll(/^CREATE (?:UNIQUE )?INDEX CONCURRENTLY \w+\s+ON (\w+)/gm),
    ]);
    expect(indexed.length).toBeGreaterThanOrEqual(files.length);
    expect(indexed.map(([, table = '']) => table).filter((table) => tables.includes(table))).toEqual([]);
  });

  it('the tables of orders in hash partitions are merged for the list of all accounts, in its order', async () => {
    const list = async (query: string) => (await shop.orders.get(`/v1/orders?accountId=all&${query}`, shop.staff)).body;
    const { items } = await list('status=pending&sort=createdAt:asc&limit=100');
    const rows = await query("SELECT id FROM orders WHERE status = 'pending' ORDER BY created_at, id");
    expect(items.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    const plan = await query('EXPLAIN (FORMAT JSON) SELECT id FROM orders ORDER BY created_at, id LIMIT 20');
    expect(JSON.stringify(plan)).toContain('Merge Append');
  });

  it('the tables of orders in hash partitions reject a second use of a reservation in any partition', async () => {
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

  it('the tables of orders in hash partitions are planned for one partition when the account is known, and for all when only the id is known', async () => {
    const rows = await query('SELECT id, account_id FROM orders LIMIT 1');
    const partitions = async (condition: string, values: unknown[]): Promise<number> => {
      const plan = await query(`EXPLAIN (FORMAT JSON) SELECT 1 FROM orders WHERE ${condition}`, values);
      return new Set(JSON.stringify(plan).match(/"Relation Name":"orders_\d+"/g)).size;
    };
    expect(await partitions('id = $1 AND account_id = $2', [rows[0]?.id, rows[0]?.account_id])).toBe(1);
    expect(await partitions('id = $1', [rows[0]?.id])).toBe(16);
  });
});
