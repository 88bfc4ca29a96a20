// The payment of an order: the amounts that are due, paid, and to be refunded. All of them change only in a transaction
// that has locked the order.
import { decimal } from '@shop/shared/collection';
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { Problem } from '@shop/shared/problem';
import { findDecimals } from '@shop/shared/shop';
import type { Cause } from './change-status.ts';
import type { LockedOrder } from './order.ts';
import { addEntry, type OwedCause } from './payment-ledger.ts';

export interface OrderPayment {
  readonly status: 'not_required' | 'due' | 'paid' | 'refund_due' | 'refunded' | 'cancelled';
  readonly paidAt: Date | null;
  /** Minor units as a string, because a sum of payments may exceed the safe integers. */
  readonly refundDueMinor: string;
}

/** Returns undefined for an order that needs no payment and for which no money was received. */
export async function findPayment(
  tx: Transaction,
  order: Pick<LockedOrder, 'id' | 'accountId'>,
): Promise<OrderPayment | undefined> {
  const [payment] = await sql<OrderPayment>(
    tx,
    `SELECT status, paid_at AS "paidAt", refund_due_minor::text AS "refundDueMinor"
     FROM order_payments WHERE order_id = $1 AND account_id = $2`,
    [order.id, order.accountId],
  );
  return payment;
}

/** @throws Problem 409 when the order has to be paid and is not */
export async function requirePaid(tx: Transaction, order: LockedOrder): Promise<void> {
  const payment = await findPayment(tx, order);
  if (payment?.status !== 'due') return;
  throw new Problem('payment-due', 'The order is not paid. It can be processed once its payment is recorded.');
}

export interface PaymentChange {
  /** Whether the order becomes paid. */
  readonly isPaid?: boolean;
  /** The further amount to refund. */
  readonly owedMinor?: number;
  /** The amount that the shop has refunded, at most what was due. */
  readonly refundedMinor?: number;
}

/** Changes the balance and the status of a payment, and the version of its order. Returns the version. */
export async function changePayment(
  tx: Transaction,
  order: LockedOrder,
  { isPaid = false, owedMinor = 0, refundedMinor = 0 }: PaymentChange,
): Promise<number> {
  await sql(
    tx,
    `INSERT INTO order_payments (order_id, account_id, status) VALUES ($1, $2, 'not_required')
     ON CONFLICT (order_id, account_id) DO NOTHING`,
    [order.id, order.accountId],
  );
  const [changed] = await sql<{ version: number }>(
    tx,
    `WITH payment AS (
       UPDATE order_payments SET
         paid_at = CASE WHEN $3 THEN now() ELSE paid_at END,
         refund_due_minor = refund_due_minor + $4::bigint - $5::bigint,
         refund_due_since = CASE WHEN refund_due_minor + $4 - $5 > 0 THEN coalesce(refund_due_since, now()) END,
         refunded_minor = refunded_minor + $5,
         status = CASE
           WHEN $6 AND refund_due_minor + $4 - $5 > 0 THEN 'refund_due'
           WHEN $6 AND refunded_minor + $5 > 0 THEN 'refunded'
           WHEN $6 THEN 'cancelled'
           WHEN $3 OR paid_at IS NOT NULL THEN 'paid'
           WHEN due_at IS NOT NULL THEN 'due'
           ELSE 'not_required' END
       WHERE order_id = $1 AND account_id = $2
     )
     UPDATE orders SET version = version + 1, updated_at = greatest(now(), updated_at)
     WHERE id = $1 AND account_id = $2 RETURNING version`,
    [order.id, order.accountId, isPaid, owedMinor, refundedMinor, order.status === 'cancelled'],
  );
  if (changed === undefined) throw new Error(`order ${order.id} is not locked`);
  return changed.version;
}

/**
 * Returns the amount that cancelled or returned units make due as a refund, as events show it. Undefined when nothing
 * was paid for them.
 */
export function refundFor(order: LockedOrder, payment: OrderPayment | undefined, minor: number) {
  if (!payment?.paidAt || minor === 0) return undefined;
  return { amount: toMajorUnits(order, minor), currency: order.currency };
}

export interface Owed {
  readonly amountMinor: number;
  readonly cause: OwedCause;
  /** The time at which the payment was received; undefined when a cancellation or a return is the cause. */
  readonly receivedAt?: Date;
  /** The return that is the cause. */
  readonly returnId?: string;
}

/** Records that a refund is due for an order, and publishes the event. */
export async function oweRefund(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  { receivedAt, returnId, ...owed }: Owed,
): Promise<void> {
  const { id, at } = await addEntry(tx, cause, order, { kind: 'refund-due', reference: null, ...owed });
  const version = await changePayment(tx, order, { owedMinor: owed.amountMinor });
  await appendEvent(tx, {
    type: 'refund.due.v1',
    subject: order.id,
    sequence: version,
    requestId: cause.id,
    traceparent: cause.traceparent,
    data: {
      ...toAmount(order, owed.amountMinor),
      refundId: id,
      // A consumer of the previous release refuses a cause that it does not know.
      cause: owed.cause === 'returned' ? 'lines-cancelled' : owed.cause,
      ...(returnId && { returnId }),
      dueAt: at.toISOString(),
      ...(receivedAt && { receivedAt: receivedAt.toISOString() }),
      ...(owed.cause === 'amount-differs' && { orderCost: toMajorUnits(order, order.totalMinor) }),
    },
  });
}

/** Closes the payment of an order that has just been cancelled. The amount that was paid becomes due as a refund. */
export async function cancelPayment(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  payment: OrderPayment | undefined,
): Promise<void> {
  if (payment === undefined) return;
  const cancelled: LockedOrder = { ...order, status: 'cancelled' };
  if (payment.paidAt !== null && order.totalMinor > 0) {
    await oweRefund(tx, cause, cancelled, { amountMinor: order.totalMinor, cause: 'cancelled' });
  } else {
    await changePayment(tx, cancelled, {});
  }
}

/** Removes the due payment of an order whose total has become zero. The caller has changed the order's version. */
export async function waivePayment(tx: Transaction, { id, accountId }: LockedOrder): Promise<void> {
  await sql(
    tx,
    `UPDATE order_payments SET status = 'not_required', due_at = NULL
     WHERE order_id = $1 AND account_id = $2 AND status = 'due'`,
    [id, accountId],
  );
}

/** Returns the members of every event about the money of an order: the order and the amount. */
export function toAmount(order: LockedOrder, minor: number) {
  const { id: orderId, accountId, reservationId, currency } = order;
  return { orderId, accountId, reservationId, amount: toMajorUnits(order, minor), currency };
}

/** Converts an amount of an order into major units. */
export function toMajorUnits({ currency }: Pick<LockedOrder, 'currency'>, minor: number): number {
  return Number(decimal(findDecimals(currency)).toJson(minor));
}
