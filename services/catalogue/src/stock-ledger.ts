// The book of stock: what comes in, written in the transaction that makes the change. Reservations write their own lines.
import { sql } from '@shop/shared/database';
import type { Transaction } from 'sequelize';

/**
 * Enters a change of what is on hand, after the change. The caller has made it, and so holds the product's lock.
 * @param quantity signed: negative when units were found to be missing; nothing is written for 0
 */
export async function enterReceived(tx: Transaction, productId: string, quantity: number): Promise<void> {
  if (quantity === 0) return;
  await sql(
    tx,
    `INSERT INTO stock_ledger (product_id, kind, quantity, stock_after, promised_after)
     SELECT id, 'received', $2, stock, reserved + oversold FROM products WHERE id = $1`,
    [productId, quantity],
  );
}
