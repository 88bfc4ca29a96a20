// The history of an order's stock in the catalogue, for operators.
import type { Queryable } from '@shop/shared/database';
import { eventHistory, type HistoryStep } from '@shop/shared/events';
import { sortSteps } from '@shop/shared/trace';

// The row stores only the latest state. Every reservation was held at first.
const states = `
  SELECT 'reservation' AS kind, created_at AS at, 'reservation held' AS what, NULL AS "requestId",
    id AS "reservationId", order_id AS "orderId", 'held' AS state
  FROM reservations WHERE id = $1
  UNION ALL
  SELECT 'reservation', changed_at, 'reservation ' || state, NULL, id, order_id, state
  FROM reservations WHERE id = $1 AND state <> 'held'`;

// One index contains the movements of whole lines, and another one those of parts of lines.
const movements = `
  SELECT 'movement' AS kind, movement.created_at AS at,
    kind || ' ' || quantity || ' of ' || name || ': ' || stock_after || ' on hand, '
      || promised_after || ' promised' AS what,
    NULL AS "requestId", movement.id::float8 AS movement, movement.kind AS "movementKind", quantity,
    product_id AS "productId", name, stock_after AS "stockAfter", promised_after AS "promisedAfter"
  FROM (
    SELECT * FROM stock_ledger WHERE reservation_id = $1 AND remaining IS NULL
    UNION ALL SELECT * FROM stock_ledger WHERE reservation_id = $1 AND remaining IS NOT NULL
  ) AS movement JOIN products ON products.id = product_id
  ORDER BY movement.id`;

/**
 * Returns the states of a reservation, its movements of stock and the events about its order, by time. Empty for an
 * unknown reservation.
 */
export async function readReservationTrace(from: Queryable, reservationId: string): Promise<HistoryStep[]> {
  const { rows } = await from.query<HistoryStep & { readonly orderId: string | null }>(states, [reservationId]);
  const orderId = rows[0]?.orderId ?? null;
  const stock = await from.query<HistoryStep>(movements, [reservationId]);
  return sortSteps([...rows, ...stock.rows, ...(orderId === null ? [] : await eventHistory(from, orderId))]);
}
