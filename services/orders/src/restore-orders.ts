// Returns archived orders to the tables of orders, so that they can be changed.
import { sql, type Transaction } from '@shop/shared/database';
import { insertRows, orderColumns } from './order-rows.ts';

const restore = `
  WITH restored AS (
    DELETE FROM archived_orders WHERE id = ANY ($1::uuid[]) AND ($2::uuid IS NULL OR account_id = $2) RETURNING *
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
 * Restores those of the orders that are archived; the others stay as they are. An order that is being archived or
 * restored by another transaction is waited for. When the transaction is rolled back, the orders stay archived.
 * @param owner the account that the orders must belong to; undefined for any
 * @returns how many of them were archived
 */
export async function restoreOrders(
  tx: Transaction,
  ids: readonly string[],
  owner: string | undefined,
): Promise<number> {
  return (await sql(tx, restore, [ids, owner ?? null])).length;
}
