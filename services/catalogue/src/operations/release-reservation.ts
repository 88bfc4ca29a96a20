import type { Operation } from '../context.ts';
import { lockReservation, releaseStock } from '../stock/reservation.ts';

/** 204, also when the reservation has already ended or is unknown. */
export const releaseReservation: Operation<'releaseReservation'> = async (request, { database }) => {
  const { reservationId } = request.path;
  await database.transaction(async (tx) => {
    const reservation = await lockReservation(tx, reservationId);
    if (reservation?.state !== 'held') return;
    await releaseStock(tx, reservationId, null, {
      actor: 'customer',
      requestId: request.id,
      traceparent: request.traceparent,
    });
  });
  return { status: 204 };
};
