// Assigns units on hand to a reservation when its order is about to ship.
import { sql, type Transaction } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import { lockReservation } from './reservation.ts';
import { type OrderedUnits, shrinkReservation } from './shrink-reservation.ts';

interface Line {
  readonly productId: string;
  readonly name: string;
  readonly quantity: number;
  /** Units on hand that are not assigned to another order. */
  readonly onHand: number;
}

/**
 * Assigns units on hand to all lines of a reservation or to none. Units can only be missing when more were promised
 * than were in stock. An unknown or ended reservation needs no units.
 * @param ordered all units of the order, when some of them were cancelled: the event about them may arrive later
 * @throws Problem 409 `stock-missing` with the lines that lack units
 */
export async function allocateReservation(
  tx: Transaction,
  id: string,
  ordered: readonly OrderedUnits[] | undefined,
  request?: OperationRequest,
): Promise<void> {
  const reservation = await lockReservation(tx, id);
  if (reservation?.state !== 'held' && reservation?.state !== 'confirmed') return;
  if (ordered !== undefined) {
    await shrinkReservation(tx, id, reservation.orderId, ordered, {
      actor: 'system',
      requestId: request?.id,
      traceparent: request?.traceparent,
    });
  }
  if (reservation.isAllocated) return;
  const lines = await sql<Line>(
    tx,
    `SELECT product.id AS "productId", product.name, quantity, stock - allocated AS "onHand"
     FROM reservation_lines AS line JOIN products AS product ON product.id = line.product_id
     WHERE line.reservation_id = $1 ORDER BY product.id FOR NO KEY UPDATE OF product`,
    [id],
  );
  const lacking = lines.filter(({ quantity, onHand }) => onHand < quantity);
  if (lacking.length > 0) {
    throw new Problem('stock-missing', 'Not all units of the order are on hand. The order is unchanged.', {
      errors: lacking.map(lackingUnits),
    });
  }
  await sql(
    tx,
    `WITH allocated AS (UPDATE reservations SET allocated_at = now() WHERE id = $1)
     UPDATE products SET allocated = allocated + quantity
     FROM reservation_lines AS line WHERE line.reservation_id = $1 AND products.id = line.product_id`,
    [id],
  );
}

function lackingUnits({ productId, name, quantity, onHand }: Line): Fault {
  const detail = `${quantity} of ${JSON.stringify(name)} are to be shipped, ${onHand} can be`;
  return { parameter: 'orderId', detail, productId, requested: quantity, onHand };
}
