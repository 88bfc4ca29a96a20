// Releases the units of a reservation that its order no longer has. The reservation continues with the others.
import { sql, type Transaction } from '@shop/shared/database';
import { countStock } from './measure-stock.ts';
import { lockProducts } from './reservation.ts';
import { appendStockEvents, type MovedStock } from './stock-events.ts';
import type { MovementCause } from './stock-ledger.ts';

/** The units of one product that an order has. */
export interface OrderedUnits {
  readonly productId: string;
  readonly quantity: number;
}

const excessOf = `
  SELECT line.product_id, line.quantity - coalesce(ordered.quantity, 0) AS excess,
    coalesce(ordered.quantity, 0) AS remaining
  FROM reservation_lines AS line
  LEFT JOIN unnest($2::uuid[], $3::int[]) AS ordered (product_id, quantity) ON ordered.product_id = line.product_id
  WHERE line.reservation_id = $1 AND line.quantity > coalesce(ordered.quantity, 0)`;

const parametersOf = (id: string, ordered: readonly OrderedUnits[]): [string, string[], number[]] => [
  id,
  ordered.map(({ productId }) => productId),
  ordered.map(({ quantity }) => quantity),
];

/** Returns whether a locked reservation has units that its order no longer has. */
export async function hasExcess(tx: Transaction, id: string, ordered: readonly OrderedUnits[]): Promise<boolean> {
  return (await sql(tx, excessOf, parametersOf(id, ordered))).length > 0;
}

/**
 * Reduces the lines of a locked reservation to the units that the order has. The caller has checked that it is held or
 * confirmed. The units of an order only decrease, so a repeat or an older state of the order releases nothing.
 * @param ordered all units that the order has; a product that is not listed has none
 */
export async function shrinkReservation(
  tx: Transaction,
  id: string,
  orderId: string | null,
  ordered: readonly OrderedUnits[],
  cause: MovementCause,
): Promise<void> {
  const { actor, actorId, requestId } = cause;
  if (!(await hasExcess(tx, id, ordered))) return;
  await lowerHold(tx, id, ordered);
  // All products of the reservation are locked, because releasing it in the same transaction locks all of them, too.
  await lockProducts(tx, id);
  const released = await sql<MovedStock & { quantity: number }>(
    tx,
    `WITH excess AS (${excessOf}), given_back AS (
       UPDATE products SET
         reserved = least(reserved + oversold - excess, stock),
         oversold = greatest(reserved + oversold - excess - stock, 0),
         allocated = CASE WHEN reservation.allocated_at IS NULL THEN allocated ELSE allocated - excess END
       FROM excess JOIN reservations AS reservation ON reservation.id = $1
       WHERE products.id = excess.product_id
       RETURNING products.id, name, excess, remaining, stock, reserved + oversold AS promised, version,
         low_stock_threshold
     ), reduced AS (
       UPDATE reservation_lines AS line SET quantity = remaining FROM given_back
       WHERE line.reservation_id = $1 AND line.product_id = given_back.id AND remaining > 0
     ), removed AS (
       DELETE FROM reservation_lines AS line USING given_back
       WHERE line.reservation_id = $1 AND line.product_id = given_back.id AND remaining = 0
     ), booked AS (
       INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, order_id, stock_after, promised_after,
         actor, actor_id, request_id, reason, remaining)
       SELECT id, 'released', excess, $1, $4, stock, promised, $5, $6, $7, 'cancelled in the order', remaining
       FROM given_back
     )
     SELECT id AS "productId", name, excess AS quantity, stock, promised, version, low_stock_threshold AS threshold
     FROM given_back`,
    [...parametersOf(id, ordered), orderId, actor, actorId ?? null, requestId ?? null],
  );
  countStock(tx, 'released', released);
  const changes = released.map((line) => ({ ...line, before: { promised: line.promised + line.quantity } }));
  await appendStockEvents(tx, changes, cause);
}

/** Updates the counted units of the reservation. The counted units of the account are locked before the products. */
async function lowerHold(tx: Transaction, id: string, ordered: readonly OrderedUnits[]): Promise<void> {
  await sql(
    tx,
    `UPDATE reservations SET counted_units = (
       SELECT coalesce(sum(least(line.quantity, ordered.quantity)), 0)
       FROM reservation_lines AS line
       JOIN unnest($2::uuid[], $3::int[]) AS ordered (product_id, quantity) ON ordered.product_id = line.product_id
       WHERE line.reservation_id = $1
     ) WHERE id = $1 AND counted_units > 0`,
    parametersOf(id, ordered),
  );
}
