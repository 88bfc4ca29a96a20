// order.cancelled.v1: the inventory handler. Releases the stock of a cancelled order and publishes an event about it.
import { appendEvent, type EventHandler, PoisonError } from '@shop/shared/events';
import { databaseTime } from '../stock/database-time.ts';
import { lockReservation, releaseStock } from '../stock/reservation.ts';

/**
 * Releases the stock exactly once, also when `order.created.v1` has not arrived. When the reservation is unknown, the
 * event reports `failed`, which the order then shows.
 */
export const onOrderCancelled: EventHandler<'order.cancelled.v1'> = async (event, tx) => {
  const { reservationId, orderId, accountId, cancelledBy: actor = 'customer' } = event.data;
  const reservation = await lockReservation(tx, reservationId);
  if (reservation?.state === 'released' && reservation.orderId === orderId) return;
  if (reservation?.state === 'shipped') {
    throw new PoisonError(`order ${orderId} is cancelled, but reservation ${reservationId} has shipped`);
  }
  const holds = reservation?.state === 'held' || reservation?.state === 'confirmed';
  // The time is read from the database, as the time of the cancellation is, because the customer sees both times.
  const { requestId, traceparent } = event;
  const cause = { actor, actorId: actor === 'customer' ? accountId : undefined, requestId, traceparent };
  const releasedAt = holds ? await releaseStock(tx, reservationId, orderId, cause) : await databaseTime(tx);
  await appendEvent(tx, {
    type: 'stock.released.v1',
    subject: orderId,
    sequence: event.sequence,
    requestId,
    traceparent,
    data: {
      orderId,
      accountId,
      reservationId,
      outcome: holds ? 'done' : 'failed',
      releasedAt: releasedAt.toISOString(),
    },
  });
};
