// Counts orders exactly by state. Open orders are few, and are counted in an index. A trigger adds a row for each order
// that is delivered or cancelled, so that no row is contended. The rows are summed in the background.
import type { Database } from '@shop/shared/database';
import { type Log, startRepeating } from '@shop/shared/runtime';
import type { OrderStatus } from './order-status.ts';

/** The final states of an order. */
export const finishedStatuses = ['delivered', 'cancelled'] as const satisfies readonly OrderStatus[];

type Pool = Pick<Database['pool'], 'query'>;

interface StatusCount {
  readonly status: OrderStatus;
  readonly orders: number;
}

const finishedOrders = 'SELECT status, sum(orders)::float8 AS orders FROM finished_orders GROUP BY status';

/** The query is one statement, so that an order that is just being finished is counted once. */
const allOrders = `
  SELECT status, count(*)::float8 AS orders FROM orders
  WHERE status IN ('pending', 'processing', 'shipped') GROUP BY status
  UNION ALL ${finishedOrders}`;

/** Returns the number of orders in each state that has any. */
export function readOrderCounts(pool: Pool): Promise<ReadonlyMap<OrderStatus, number>> {
  return readCounts(pool, allOrders);
}

/** Returns the number of all orders that were ever delivered, and of those that were cancelled. */
export function readFinishedOrders(pool: Pool): Promise<ReadonlyMap<OrderStatus, number>> {
  return readCounts(pool, finishedOrders);
}

async function readCounts(pool: Pool, query: string): Promise<ReadonlyMap<OrderStatus, number>> {
  const { rows } = await pool.query<StatusCount>(query);
  return new Map(rows.map(({ status, orders }) => [status, orders]));
}

const addUpEvery = 60_000;
/** The rows are not summed when there are fewer than this number. */
const fewRows = 100;

const addUp = `
  WITH added AS (
    DELETE FROM finished_orders WHERE id IN (
      SELECT id FROM finished_orders
      WHERE (SELECT count(*) FROM (SELECT FROM finished_orders LIMIT ${fewRows}) AS few) = ${fewRows}
      FOR UPDATE SKIP LOCKED)
    RETURNING status, orders
  )
  INSERT INTO finished_orders (status, orders) SELECT status, sum(orders) FROM added GROUP BY status`;

/** Replaces the rows of finished orders by their sums. Any number of processes may do so concurrently. */
export async function addUpFinishedOrders(pool: Pool): Promise<void> {
  await pool.query(addUp);
}

/** Starts the loop. The returned function stops it and waits for the statement in progress. */
export function startCounting(pool: Pool, log: Log): () => Promise<void> {
  return startRepeating(
    addUpEvery,
    () => addUpFinishedOrders(pool),
    (error) => log.warn({ err: error }, 'the rows of finished orders are not added up yet'),
  );
}
