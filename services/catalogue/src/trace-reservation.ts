// GET /internal/reservations/{reservationId}/trace: what the catalogue knows of the stock of an order, step by step, for operators.
import { byTime, eventHistory, toStep } from '@shop/shared/events';
import { Problem } from '@shop/shared/problem';
import type { Operation } from './context.ts';

const movements = `
  SELECT movement.created_at AS at,
    kind || ' ' || quantity || ' of ' || name || ': ' || stock_after || ' on hand, ' || promised_after || ' promised' AS what
  FROM stock_ledger AS movement JOIN products ON products.id = product_id
  WHERE reservation_id = $1`;

/** 404 for an unknown reservation. */
export const traceReservation: Operation<'traceReservation'> = async (
  { path: { reservationId } },
  { database: { pool } },
) => {
  const { rows } = await pool.query<{ state: string; orderId: string | null; changedAt: Date }>(
    'SELECT state, order_id AS "orderId", changed_at AS "changedAt" FROM reservations WHERE id = $1',
    [reservationId],
  );
  const [reservation] = rows;
  if (reservation === undefined) throw new Problem('not-found', 'There is no such reservation.');
  const { state, orderId, changedAt } = reservation;
  const stock = await pool.query(movements, [reservationId]);
  const present = { at: changedAt.toISOString(), what: `reservation ${state}` };
  const steps = byTime(stock.rows.map(toStep), [present], orderId === null ? [] : await eventHistory(pool, orderId));
  return { status: 200, body: { steps } };
};
