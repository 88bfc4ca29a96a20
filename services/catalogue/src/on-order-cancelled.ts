// order.cancelled.v1: the inventory handler. Gives the stock of a cancelled order back and tells of it.
import { sql, type Transaction } from '@shop/shared/database';
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
  // The database's clock, by which the cancellation was dated too: the customer sees both times.
  const releasedAt = holds ? await giveStockBack(tx, reservationId, orderId) : await databaseTime(tx);
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
      releasedAt: releasedAt.toISOString(),
    },
  });
};

async function databaseTime(tx: Transaction): Promise<Date> {
  const [row] = await sql<{ now: Date }>(tx, 'SELECT now()');
  if (row === undefined) throw new Error('the database told no time');
  return row.now;
}
