// order.shipped.v1: the goods were shipped.
import { type EventHandler, PoisonError } from '@shop/shared/events';
import { lockReservation, shipStock } from './reservation.ts';

export const onOrderShipped: EventHandler<'order.shipped.v1'> = async ({ data, requestId }, tx) => {
  const { reservationId, orderId } = data;
  const reservation = await lockReservation(tx, reservationId);
  if (reservation?.state === 'held' || reservation?.state === 'confirmed') {
    await shipStock(tx, reservationId, orderId, { actor: 'staff', requestId });
  } else if (reservation?.state !== 'shipped') {
    throw new PoisonError(`order ${orderId} has shipped: reservation ${reservationId} is ${reservation?.state}`);
  }
};
