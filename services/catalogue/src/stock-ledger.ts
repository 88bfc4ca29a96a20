// The book of stock: what comes in, written in the transaction that makes the change. Reservations write their own lines.
import { sql, type Transaction } from '@shop/shared/database';
import { countStock } from './measure-stock.ts';

/**
 * Enters a change of what is on hand, after the change. The caller has made it, and so holds the product's lock.
 * @param quantity signed: negative when units were found to be missing; nothing is written for 0
 */
export async function enterReceived(tx: Transaction, productId: string, quantity: number): Promise<void> {
  await enterAllReceived(tx, [{ productId, quantity }]);
}

export interface Received {
  readonly productId: string;
  /** Signed, as in `enterReceived`. */
  readonly quantity: number;
}

/** Enters the changes of several products in one statement; each of them once. */
export async function enterAllReceived(tx: Transaction, changes: readonly Received[]): Promise<void> {
  const real = changes.filter(({ quantity }) => quantity !== 0);
  if (real.length === 0) return;
  await sql(
    tx,
    `INSERT INTO stock_ledger (product_id, kind, quantity, stock_after, promised_after)
     SELECT products.id, 'received', change.quantity, stock, reserved + oversold
     FROM unnest($1::uuid[], $2::integer[]) AS change(id, quantity) JOIN products ON products.id = change.id`,
    [real.map(({ productId }) => productId), real.map(({ quantity }) => quantity)],
  );
  const found = real.map(({ quantity }) => ({ quantity: Math.max(quantity, 0) }));
  const lost = real.map(({ quantity }) => ({ quantity: Math.max(-quantity, 0) }));
  countStock(tx, 'received', found);
  countStock(tx, 'missing', lost);
}
