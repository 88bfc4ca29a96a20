// order.lines-cancelled.v1: the inventory handler. Releases the cancelled units and publishes an event about it.
import type { Transaction } from '@shop/shared/database';
import { appendEvent, type EventHandler, PoisonError, type ShopEvent } from '@shop/shared/events';
import { databaseTime } from '../stock/database-time.ts';
import { confirmReservations, lockReservation } from '../stock/reservation.ts';
import { hasExcess, shrinkReservation } from '../stock/shrink-reservation.ts';

/**
 * Releases the units exactly once, in whatever sequence the events about the order arrive. The event has the units that
 * the order still has. Units that were released before, with the whole order or by a later event, are not released
 * again.
 */
export const onOrderLinesCancelled: EventHandler<'order.lines-cancelled.v1'> = async (event, tx) => {
  const { orderId, accountId, reservationId, orderVersion } = event.data;
  const isReleased = await release(tx, event);
  await appendEvent(tx, {
    type: 'stock.lines-released.v1',
    subject: orderId,
    sequence: event.sequence,
    requestId: event.requestId,
    traceparent: event.traceparent,
    data: {
      orderId,
      accountId,
      reservationId,
      orderVersion,
      outcome: isReleased ? 'done' : 'failed',
      releasedAt: (await databaseTime(tx)).toISOString(),
    },
  });
};

/** Returns whether the units were released by this call. False when the order has no reservation. */
async function release(tx: Transaction, event: ShopEvent<'order.lines-cancelled.v1'>): Promise<boolean> {
  const { data, requestId, traceparent } = event;
  const { orderId, accountId, reservationId, remaining, cancelledBy: actor } = data;
  const reservation = await lockReservation(tx, reservationId);
  if (reservation === undefined) return false;
  if (reservation.state === 'held') await confirmReservations(tx, [{ reservationId, orderId }]);
  else if (reservation.orderId !== orderId) return false;
  if (reservation.state === 'released') return true;
  if (reservation.state === 'shipped') {
    if (!(await hasExcess(tx, reservationId, remaining))) return true;
    throw new PoisonError(`units of order ${orderId} are cancelled, but reservation ${reservationId} has shipped them`);
  }
  const cause = { actor, actorId: actor === 'customer' ? accountId : undefined, requestId, traceparent };
  await shrinkReservation(tx, reservationId, orderId, remaining, cause);
  return true;
}
