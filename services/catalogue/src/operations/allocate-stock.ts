// POST /internal/reservations/{reservationId}/allocate: assigns units on hand to an order that is about to ship.
import type { Operation } from '../context.ts';
import { allocateReservation } from '../stock/allocation.ts';

/**
 * 204 when the units are now assigned, were assigned before, or the reservation has ended; 409 when units are missing.
 */
export const allocateStock: Operation<'allocateStock'> = async (request, { database }) => {
  const { path, body } = request;
  await database.transaction((tx) => allocateReservation(tx, path.reservationId, body?.lines, request));
  return { status: 204 };
};
