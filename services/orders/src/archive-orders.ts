// Moves orders with which the shop has finished long ago into the archive, each as one row.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { type Log, startRepeating } from '@shop/shared/runtime';
import { orderColumns } from './order-rows.ts';

export interface ArchiveOptions {
  readonly database: Database;
  /** Days after the last change of an order; 0 disables the archive. */
  readonly afterDays: number;
  readonly log: Log;
}

const lookEvery = 60_000;
const batchSize = 500;

const isOld = "orders.status IN ('delivered', 'cancelled') AND orders.updated_at < now() - $1 * interval '1 day'";

/**
 * The order is finished: no refund is due and no effect of a cancellation is pending. The conditions are written so
 * that PostgreSQL expects most old orders to meet them. It then reads a batch from the index instead of joining whole
 * tables.
 */
const isFinished = `
  ${isOld}
  AND coalesce(orders.stock_released, '') <> 'pending' AND coalesce(orders.customer_notified, '') <> 'pending'
  AND (SELECT true FROM order_payments AS payment
    WHERE payment.order_id = orders.id AND payment.account_id = orders.account_id AND payment.refund_due_minor > 0
    LIMIT 1) IS NOT TRUE
  AND (SELECT true FROM order_history AS history
    WHERE history.order_id = orders.id AND history.account_id = orders.account_id
      AND 'pending' IN (history.stock_released, history.customer_notified) LIMIT 1) IS NOT TRUE`;

/**
 * The orders are read in the order of an index, or the statement would read the space of the orders that are already
 * archived.
 */
const lockFinished = `
  SELECT id FROM orders WHERE ${isFinished}
  ORDER BY orders.status, orders.updated_at, orders.id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED`;

const ofOrder = 'row.order_id = orders.id AND row.account_id = orders.account_id';
const ms = (time: string): string => `(extract(epoch FROM row.${time}) * 1000)::bigint`;

/** The document that the functions of migration 0017 read. */
const document = `json_strip_nulls(json_build_object(
  'lines', (SELECT json_agg(json_build_object(
      'p', position, 'i', product_id, 'n', name, 'q', quantity, 'u', unit_price_minor,
      'c', nullif(cancelled_quantity, 0)
    ) ORDER BY position) FROM order_lines AS row WHERE ${ofOrder}),
  'history', (SELECT json_agg(json_build_object(
      'v', row.version, 's', row.status, 'a', actor, 'i', actor_id, 'r', request_id, 't', ${ms('at')},
      'l', cancelled_lines, 'w', reason, 'sr', row.stock_released, 'sa', ${ms('stock_released_at')},
      'cn', row.customer_notified, 'ca', ${ms('customer_notified_at')}
    ) ORDER BY row.version) FROM order_history AS row WHERE ${ofOrder}),
  'payment', (SELECT json_agg(json_build_object(
      's', row.status, 'd', ${ms('due_at')}, 'p', ${ms('paid_at')}, 'r', refunded_minor
    )) FROM order_payments AS row WHERE ${ofOrder}),
  'movements', (SELECT json_agg(json_build_object(
      'e', row.id, 'k', kind, 'f', reference, 'm', amount_minor, 'c', cause, 'd', due_minor, 'i', actor_id,
      'r', request_id, 't', ${ms('at')}
    ) ORDER BY row.id) FROM payment_ledger AS row WHERE ${ofOrder})))`;

const deleteRows = (table: string): string => `DELETE FROM ${table} AS row USING archived AS orders WHERE ${ofOrder}`;

const move = `
  WITH finished AS (
    SELECT orders.* FROM orders WHERE id = ANY ($2::uuid[]) AND ${isFinished}
  ), archived AS (
    INSERT INTO archived_orders (${orderColumns}, payment_references, document)
    SELECT ${orderColumns},
      (SELECT array_agg(kind || ' ' || reference) FROM payment_ledger AS row
       WHERE ${ofOrder} AND reference IS NOT NULL),
      ${document}
    FROM finished AS orders RETURNING id, account_id
  ), lines AS (
    ${deleteRows('order_lines')}
  ), history AS (
    ${deleteRows('order_history')}
  ), payments AS (
    ${deleteRows('order_payments')}
  ), movements AS (
    ${deleteRows('payment_ledger')}
  )
  DELETE FROM orders USING archived
  WHERE orders.id = archived.id AND orders.account_id = archived.account_id RETURNING orders.id`;

/** Counts the orders that were finished so long ago, including those that wait for a refund or an effect. */
export async function countOld(pool: Pick<Database['pool'], 'query'>, afterDays: number): Promise<number> {
  const { rows } = await pool.query<{ orders: number }>(`SELECT count(*)::int AS orders FROM orders WHERE ${isOld}`, [
    afterDays,
  ]);
  return rows[0]?.orders ?? 0;
}

/**
 * Archives the finished orders without a change in the last `afterDays` days, in batches of one transaction each. Any
 * number of processes may do so concurrently: each skips the orders that another one has locked.
 * @param onBatch is called with the number of orders that were archived so far
 * @returns the number of archived orders
 */
export async function archiveOrders(
  database: Database,
  afterDays: number,
  { signal, onBatch }: { readonly signal?: AbortSignal; readonly onBatch?: (archived: number) => void } = {},
): Promise<number> {
  let archived = 0;
  while (signal?.aborted !== true) {
    const moved = await database.transaction((tx) => archiveBatch(tx, afterDays));
    if (moved === 0) break;
    archived += moved;
    onBatch?.(archived);
  }
  return archived;
}

/**
 * The rows of an order change only while it is locked. They are therefore read after the lock, by a separate statement.
 */
async function archiveBatch(tx: Transaction, afterDays: number): Promise<number> {
  const locked = await sql<{ id: string }>(tx, lockFinished, [afterDays]);
  if (locked.length === 0) return 0;
  return (await sql(tx, move, [afterDays, locked.map(({ id }) => id)], { planEachTime: true })).length;
}

/**
 * Returns the time from which orders may be archived. Processes of the previous release do not find archived orders,
 * and an update has to be complete within a day. `isReached` is decided by the clock of the database.
 */
export async function findStart(
  pool: Pick<Database['pool'], 'query'>,
): Promise<{ readonly at: Date; readonly isReached: boolean } | undefined> {
  const { rows } = await pool.query<{ at: Date; isReached: boolean }>(
    `SELECT applied_at + interval '1 day' AS at, applied_at < now() - interval '1 day' AS "isReached"
     FROM migrations WHERE name = '0017_archive.sql'`,
  );
  return rows[0];
}

/** Starts the loop. The returned function stops it and waits for the batch in progress. */
export function startArchiving({ database, afterDays, log }: ArchiveOptions): () => Promise<void> {
  return startRepeating(
    lookEvery,
    async (signal) => {
      if (afterDays === 0 || (await findStart(database.pool))?.isReached !== true) return;
      const archived = await archiveOrders(database, afterDays, { signal });
      if (archived > 0) log.info({ orders: archived }, 'orders archived');
    },
    (error) => log.warn({ err: error }, 'finished orders wait to be archived'),
  );
}
