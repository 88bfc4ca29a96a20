// order.shipped.v1: the goods were shipped.
import { type EventHandler, PoisonError } from '@shop/shared/events';
import { lockReservation, shipStock } from '../stock/reservation.ts';
import { shrinkReservation } from '../stock/shrink-reservation.ts';

export const onOrderShipped: EventHandler<'order.shipped.v1'> = async ({ data, requestId, traceparent }, tx) => {
  const { reservationId, orderId, items } = data;
  const reservation = await lockReservation(tx, reservationId);
  if (reservation?.state === 'held' || reservation?.state === 'confirmed') {
    // Releases units that were cancelled before the shipment, because the event about them has not arrived yet.
    if (items !== undefined) {
      await shrinkReservation(tx, reservationId, orderId, items, { actor: 'system', requestId, traceparent });
    }
    await shipStock(tx, reservationId, orderId, { actor: 'staff', requestId });
  } else if (reservation?.state !== 'shipped') {
    throw new PoisonError(`order ${orderId} has shipped: reservation ${reservationId} is ${reservation?.state}`);
  }
};
