// order.created.v1: an order has taken its reservation, which now no longer expires.
import { type BatchHandler, PoisonError } from '@shop/shared/events';
import { confirmReservations, lockReservation } from './reservation.ts';

/** Orders may have been confirmed by question, cancelled or shipped already: events arrive in any order. */
export const onOrderCreated: BatchHandler<'order.created.v1'> = {
  async takeAll(events, tx) {
    const orders = events.map(({ data }) => data);
    const confirmed = await confirmReservations(tx, orders);
    for (const { reservationId, orderId } of orders) {
      if (confirmed.has(orderId)) continue;
      const reservation = await lockReservation(tx, reservationId);
      if (reservation?.orderId !== orderId) {
        throw new PoisonError(`order ${orderId} has no stock: reservation ${reservationId} is ${reservation?.state}`);
      }
    }
  },
};
