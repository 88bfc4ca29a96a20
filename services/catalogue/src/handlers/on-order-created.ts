// order.created.v1: confirms the reservation of the order, so that it no longer expires.
import { type BatchHandler, PoisonError } from '@shop/shared/events';
import { confirmReservations, lockReservation } from '../stock/reservation.ts';

/** Events arrive in any order, so the reservation may already be confirmed, released or shipped. */
export const onOrderCreated: BatchHandler<'order.created.v1'> = {
  async handleAll(events, tx) {
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
