// Records the cancellation of a locked order and publishes the event, for every kind of actor.
import type { Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { Problem } from '@shop/shared/problem';
import { giveBackUse } from '../settings/discount-uses.ts';
import { type Actor, type Cause, changeStatus } from './change-status.ts';
import type { LockedOrder } from './order.ts';
import { readRemaining, toItem } from './order-lines.ts';
import { cancelPayment, findPayment, refundFor } from './order-payment.ts';
import { mayBecome } from './order-status.ts';

export interface Cancellation {
  readonly actor: Actor;
  readonly reason?: string | undefined;
}

/**
 * Cancels the order. Cancelling a cancelled order changes nothing and publishes no event.
 * @throws Problem 409 once the order has shipped
 */
export async function recordCancellation(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  { actor, reason }: Cancellation,
): Promise<void> {
  if (order.status === 'cancelled') return;
  requireCancellable(order);
  const { version, changedAt } = await changeStatus(tx, cause, order, { to: 'cancelled', actor, reason });
  const items = (await readRemaining(tx, order)).map(toItem);
  const payment = await findPayment(tx, order);
  const refund = refundFor(order, payment, order.totalMinor);
  await appendEvent(tx, {
    type: 'order.cancelled.v1',
    subject: order.id,
    sequence: version,
    requestId: cause.id,
    traceparent: cause.traceparent,
    data: {
      orderId: order.id,
      accountId: order.accountId,
      reservationId: order.reservationId,
      items,
      reason: reason ?? null,
      cancelledAt: changedAt.toISOString(),
      cancelledBy: actor,
      ...(refund && { refund }),
    },
  });
  await cancelPayment(tx, cause, order, payment);
  await giveBackUse(tx, order.pricing?.counted ?? [], order.accountId);
}

/** @throws Problem 409 once the order has shipped */
export function requireCancellable({ status }: LockedOrder): void {
  if (mayBecome(status, 'cancelled')) return;
  throw new Problem('order-already-shipped', `The order is ${status} and can no longer be cancelled.`);
}
