// The stock ledger: enters received units in the transaction of the change. Reservations enter their own movements.
import { sql, type Transaction } from '@shop/shared/database';
import { countStock } from './measure-stock.ts';

/**
 * Enters a change of the units on hand. The caller has made the change, so it holds the lock of the product.
 * @param quantity negative when units are missing; 0 enters nothing
 */
export async function enterReceived(tx: Transaction, productId: string, quantity: number): Promise<void> {
  await enterAllReceived(tx, [{ productId, quantity }]);
}

export interface Received {
  readonly productId: string;
  /** Signed, as in `enterReceived`. */
  readonly quantity: number;
}

/** Enters the changes of several products in one statement. Each product occurs at most once. */
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
