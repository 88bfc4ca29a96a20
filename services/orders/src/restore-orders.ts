// Returns archived orders to the tables of orders, so that they can be changed.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { insertRows, orderColumns } from './order-rows.ts';
import type { OrderStatus } from './order-status.ts';

const restore = `
  WITH restored AS (
    DELETE FROM archived_orders
    WHERE id = ANY ($1::uuid[]) AND ($2::uuid IS NULL OR account_id = $2) AND status <> ALL ($3::text[]) RETURNING *
  ), lines AS (
    ${insertRows('order_lines', 'restored')}
  ), history AS (
    ${insertRows('order_history', 'restored')}
  ), payments AS (
    ${insertRows('order_payments', 'restored')}
  ), movements AS (
    ${insertRows('payment_ledger', 'restored')}
  )
  INSERT INTO orders (${orderColumns}) SELECT ${orderColumns} FROM restored RETURNING id`;

/**
 * Restores those of the orders that are archived; the others stay unchanged. The function waits for transactions that
 * archive or restore one of the orders. When the transaction is rolled back, the orders stay archived.
 * @param owner the account that the orders must belong to; undefined for any
 * @param except states of orders that stay archived
 * @returns how many of them were archived
 */
export async function restoreOrders(
  tx: Transaction,
  ids: readonly string[],
  owner: string | undefined,
  except: readonly OrderStatus[] = [],
): Promise<number> {
  return (await sql(tx, restore, [ids, owner ?? null, except])).length;
}

const batchSize = 500;

/** The statement does not wait for orders that other transactions restore. */
const lockNext = `
  SELECT id FROM archived_orders WHERE id > $1 ORDER BY id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED`;

const lowestId = '00000000-0000-0000-0000-000000000000';

/**
 * Restores all archived orders, in batches of one transaction each, and reads the archive once. When it is interrupted,
 * the restored batches stay restored. Orders that are archived again meanwhile are not restored a second time.
 * @param onBatch is called with the number of orders that were restored so far
 * @returns the number of restored orders
 */
export async function restoreAllOrders(database: Database, onBatch?: (restored: number) => void): Promise<number> {
  let restored = 0;
  let last = lowestId;
  for (;;) {
    const ids = await database.transaction(async (tx) => {
      const found = (await sql<{ id: string }>(tx, lockNext, [last])).map(({ id }) => id);
      restored += await restoreOrders(tx, found, undefined);
      return found;
    });
    const end = ids.at(-1);
    if (end === undefined) return restored;
    last = end;
    onBatch?.(restored);
  }
}

/** Returns the number of archived orders. */
export async function countArchived(pool: Pick<Database['pool'], 'query'>): Promise<number> {
  const { rows } = await pool.query<{ orders: number }>('SELECT count(*)::int AS orders FROM archived_orders');
  return rows[0]?.orders ?? 0;
}
