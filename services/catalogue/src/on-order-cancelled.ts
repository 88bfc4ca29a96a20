// order.cancelled.v1: the inventory handler. Gives the stock of a cancelled order back and tells of it.
import { appendEvent, type EventHandler, PoisonError } from '@shop/shared/events';
import { giveStockBack, lockReservation } from './reservation.ts';

/**
 * Exactly once, whether or not the order's creation was heard of. An order whose reservation is unknown here gets `failed`: there is
 * no stock to give back, and whoever looks at the order sees it.
 */
export const onOrderCancelled: EventHandler<'order.cancelled.v1'> = async (event, tx) => {
  const { reservationId, orderId, accountId } = event.data;
  const reservation = await lockReservation(tx, reservationId);
  if (reservation?.state === 'released' && reservation.orderId === orderId) return;
  if (reservation?.state === 'shipped') {
    throw new PoisonError(`order ${orderId} is cancelled, but reservation ${reservationId} has shipped`);
  }
  const holds = reservation?.state === 'held' || reservation?.state === 'confirmed';
  if (holds) await giveStockBack(tx, reservationId, orderId);
  await appendEvent(tx, {
    type: 'stock.released.v1',
    subject: orderId,
    sequence: event.sequence,
    requestId: event.requestId,
    traceparent: event.traceparent,
    data: {
      orderId,
      accountId,
      reservationId,
      outcome: holds ? 'done' : 'failed',
      releasedAt: new Date().toISOString(),
    },
  });
};
