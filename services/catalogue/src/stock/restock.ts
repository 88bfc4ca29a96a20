// Adds units that came back to the stock, also of archived products.
import { sql, type Transaction } from '@shop/shared/database';
import type { OrderedUnits } from './shrink-reservation.ts';
import { maximumStock } from './stock-change.ts';
import { appendStockEvents, type MovedStock } from './stock-events.ts';
import { enterReceived, type MovementCause } from './stock-ledger.ts';

/**
 * Adds the units of all products or of none, and returns whether it did. It does not for an unknown product, and for
 * one that would exceed the largest stock. New units are first assigned to orders that were promised beyond the stock.
 */
export async function restock(tx: Transaction, units: readonly OrderedUnits[], cause: MovementCause): Promise<boolean> {
  const ids = units.map(({ productId }) => productId);
  const quantities = units.map(({ quantity }) => quantity);
  const free = await sql(
    tx,
    `SELECT FROM products JOIN unnest($1::uuid[], $2::int[]) AS given (product_id, quantity) ON given.product_id = id
     WHERE stock + given.quantity <= $3 ORDER BY id FOR NO KEY UPDATE OF products`,
    [ids, quantities, maximumStock],
  );
  if (free.length < units.length) return false;
  const moved = await sql<MovedStock & { quantity: number }>(
    tx,
    `UPDATE products SET
       stock = stock + given.quantity,
       reserved = least(reserved + oversold, stock + given.quantity),
       oversold = greatest(reserved + oversold - stock - given.quantity, 0)
     FROM unnest($1::uuid[], $2::int[]) AS given (product_id, quantity)
     WHERE id = given.product_id
     RETURNING id AS "productId", name, given.quantity, stock, reserved + oversold AS promised, version,
       low_stock_threshold AS threshold`,
    [ids, quantities],
  );
  const { reason } = cause;
  await enterReceived(
    tx,
    moved.map(({ productId, quantity }) => ({ productId, quantity, reason })),
    cause,
  );
  const changes = moved.map((line) => ({ ...line, before: { stock: line.stock - line.quantity } }));
  await appendStockEvents(tx, changes, cause);
  return true;
}
