// The bytes of an order before and after it is archived, the time of archiving and of restoring, and the time of a
// customer's list.
import { parseArgs } from 'node:util';
import type { Database } from '@shop/shared/database';
import { withDatabase } from '@shop/shared/service';
import pg from 'pg';
import { archiveOrders } from '../services/orders/src/archive-orders.ts';
import { restoreAllOrders } from '../services/orders/src/restore-orders.ts';
import { measureLists, type Owners } from './archive/lists.ts';
import { withScratchDatabase } from './scratch-database.ts';

const ordersInBatch = 20_000;
const accounts = 20_000;

/** `npm run bench -- archive [--orders 1000000]` */
export default async function archiving(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...options], options: { orders: { type: 'string', default: '1000000' } } });
  const count = Number(values.orders);
  await withScratchDatabase('orders', async (url) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {}); // the query in progress fails with it
    await client.connect();
    await run(client, url, count);
    await client.end();
  });
}

async function run(client: pg.Client, url: string, count: number): Promise<void> {
  const write = (line: string): boolean => process.stdout.write(`${line}\n`);
  // Every second account gets old orders. All accounts get orders of the last days.
  for (let first = 1; first <= count; first += ordersInBatch) {
    await client.query(place, [first, Math.min(first + ordersInBatch - 1, count), accounts, 400, 2]);
  }
  await client.query(place, [count + 1, count + accounts * 5, accounts, 1, 1]);
  await client.query('VACUUM (ANALYZE)');
  const owners: Owners = { withArchive: 2, without: 1, accounts };
  const size = async (): Promise<number> => Number((await client.query(bytes)).rows[0]?.bytes);
  const before = await size();
  write(`before: ${perOrder(before, count + accounts * 5)} bytes an order, in all tables of orders with their indexes`);
  const listsBefore = await measureLists(client, owners);
  const move = async (name: string, work: (database: Database) => Promise<number>): Promise<number> => {
    const began = performance.now();
    const moved = await withDatabase({ url, name }, work);
    const seconds = (performance.now() - began) / 1000;
    write(`${name}: ${moved} orders in ${seconds.toFixed(0)} s, ${Math.round(moved / seconds)} a second`);
    return moved;
  };
  const archived = await move('archive', (database) => archiveOrders(database, 365));
  await client.query('VACUUM (ANALYZE)');
  const { rows } = await client.query(archivedBytes);
  const fences = perOrder(Number(rows[0]?.fences), count + accounts * 5);
  write(`after: ${perOrder(Number(rows[0]?.bytes), archived) + fences} bytes an archived order: table`);
  write(`  ${perOrder(Number(rows[0]?.heap), archived)}, its indexes ${perOrder(Number(rows[0]?.indexes), archived)},`);
  write(`  and its row of reservations ${fences}`);
  const listsAfter = await measureLists(client, owners);
  for (const [name, microseconds] of Object.entries(listsAfter)) {
    const earlier = listsBefore[name] ?? 0;
    write(`${name.padEnd(44)} ${earlier} µs, then ${microseconds} µs: ${(microseconds / earlier).toFixed(2)}`);
  }
  await move('restore', restoreAllOrders);
}

const perOrder = (bytes: number, orders: number): number => Math.round(bytes / orders);

const bytes = `
  SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
    AND relname IN ('orders', 'order_lines', 'order_history', 'order_payments', 'payment_ledger', 'reservations')`;

const archivedBytes = `
  SELECT pg_total_relation_size('archived_orders') AS bytes, pg_table_size('archived_orders') AS heap,
    pg_indexes_size('archived_orders') AS indexes, pg_total_relation_size('reservations') AS fences`;

/**
 * Places the orders $1 to $2, which ended at least $4 days ago, for every $5th of $3 accounts. Each order has one to
 * three lines. Most have the history of a delivery, and every twentieth that of a cancellation. Each order changes its
 * state as often as in the shop.
 */
const place = `
  WITH numbered AS (
    SELECT n, uuidv7(at - now()) AS id, md5('account ' || (n * 7919 * $5::int) % $3::int)::uuid AS account_id, at,
      CASE WHEN n % 20 = 0 THEN 'cancelled' ELSE 'delivered' END AS status, gen_random_uuid() AS reservation_id
    FROM generate_series($1::bigint, $2::bigint) AS n,
      LATERAL (
        SELECT now() - $4::int * interval '1 day' - interval '1 minute' * (1100000 - n % 1100000) / 3 AS at
      ) AS placed
  ), placed AS (
    INSERT INTO orders (id, account_id, reservation_id, status, version, currency, total_minor, shipping_address,
      created_at, updated_at, tracking, cancelled_at, stock_released, stock_released_at, customer_notified,
      customer_notified_at)
    SELECT id, account_id, reservation_id, status, 4, 'EUR',
      1000 + n * 7919 % 99991,
      json_build_object('recipient', 'Maria Magdalena Musterfrau', 'street_address', 'Hauptstrasse ' || n % 200,
        'city', 'Frankfurt am Main', 'postal_code', 10000 + n % 90000, 'country', 'DE'),
      at, at + interval '3 days',
      CASE status WHEN 'delivered' THEN
        json_build_object('carrier', 'DHL', 'tracking_number', '00340434161094' || n % 1000000)
      END,
      CASE status WHEN 'cancelled' THEN at END, CASE status WHEN 'cancelled' THEN 'done' END,
      CASE status WHEN 'cancelled' THEN at END, CASE status WHEN 'cancelled' THEN 'done' END,
      CASE status WHEN 'cancelled' THEN at END
    FROM numbered
  ), fences AS (
    INSERT INTO reservations (id, account_id, order_id, decided_at)
    SELECT reservation_id, account_id, id, at FROM numbered
  ), lines AS (
    INSERT INTO order_lines (order_id, account_id, position, product_id, name, quantity, unit_price_minor,
      line_total_minor)
    SELECT id, account_id, position, gen_random_uuid(), 'A product with a usual name ' || position, 2, 1999, 3998
    FROM numbered, generate_series(1, 1 + n % 3) AS position
  )
  INSERT INTO order_history (order_id, account_id, version, status, actor, actor_id, request_id, at)
  SELECT id, account_id, version, entry, CASE version WHEN 1 THEN 'customer' ELSE 'staff' END,
    CASE version WHEN 1 THEN account_id ELSE md5('staff ' || n % 10)::uuid END, gen_random_uuid()::text,
    at + version * interval '1 hour'
  FROM numbered, unnest(CASE status
    WHEN 'delivered' THEN ARRAY['pending', 'processing', 'shipped', 'delivered']
    ELSE ARRAY['pending', 'cancelled'] END) WITH ORDINALITY AS entry (entry, version)`;
