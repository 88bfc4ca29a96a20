// order.created.v1: an order has taken its reservation, which now no longer expires.
import { type EventHandler, PoisonError } from '@shop/shared/events';
import { confirmReservation, lockReservation } from './reservation.ts';

/** The order may have been confirmed by question, cancelled or shipped already: events arrive in any order. */
export const onOrderCreated: EventHandler<'order.created.v1'> = async ({ data }, tx) => {
  const { reservationId, orderId } = data;
  if (await confirmReservation(tx, reservationId, orderId)) return;
  const reservation = await lockReservation(tx, reservationId);
  if (reservation?.orderId !== orderId) {
    throw new PoisonError(`order ${orderId} has no stock: reservation ${reservationId} is ${reservation?.state}`);
  }
};
