// GET /internal/reservations/{reservationId}/trace: the history of an order's stock in the catalogue, for operators.
import { toTraceStep } from '@shop/shared/events';
import { Problem } from '@shop/shared/problem';
import type { Operation } from '../context.ts';
import { readReservationTrace } from '../stock/reservation-trace.ts';

/** Returns 404 for an unknown reservation. */
export const traceReservation: Operation<'traceReservation'> = async ({ path: { reservationId } }, { database }) => {
  const steps = await readReservationTrace(database.pool, reservationId);
  if (steps.length === 0) throw new Problem('not-found', 'There is no such reservation.');
  return { status: 200, body: { steps: steps.map(toTraceStep) } };
};
