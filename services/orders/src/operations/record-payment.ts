// POST /v1/orders/{orderId}/payments: records money that the payment provider received for an order.
import type { Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { idempotent, problemResult } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { Operation } from '../context.ts';
import type { Cause } from '../order/change-status.ts';
import { countPayment } from '../order/measure-orders.ts';
import { type LockedOrder, lockOrder, type Orders } from '../order/order.ts';
import { changePayment, findPayment, oweRefund, toAmount } from '../order/order-payment.ts';
import { addEntry, findEntry, type LedgerEntry, type NewEntry } from '../order/payment-ledger.ts';
import { readAmount, receipt, requireSame } from '../order/reported-money.ts';

/**
 * 200 with the receipt. The payment pays the order. If the order is cancelled or was paid before, the money becomes due
 * as a refund. 409 `payment-amount-differs` also records the money as a due refund, so that no money is lost when the
 * provider does not read the response. 422 for a reference that was recorded with another content.
 */
export const recordPayment: Operation<'recordPayment'> = async (request, context) => {
  const amountMinor = readAmount(request, context.orders);
  const { orderId } = request.path;
  const { reference } = request.body;
  return idempotent(request, context, async (tx) => {
    const kept = await findEntry(tx, 'received', reference);
    const order = await lockOrder(tx, orderId, undefined);
    if (kept !== undefined) requireSame(kept, { orderId: order.id, amountMinor });
    const entry = kept ?? (await receive(tx, request, order, reference, amountMinor));
    if (entry.cause === 'amount-differs') return problemResult(differs(entry, context.orders), request);
    return receipt(context.orders, reference, entry, entry.cause === 'order-paid' ? 'paid' : 'refund_due');
  });
};

/** Adds the payment to the ledger, and applies it to the order or makes it due as a refund. */
async function receive(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  reference: string,
  amountMinor: number,
): Promise<LedgerEntry> {
  const use = await useOf(tx, order, amountMinor);
  const entry = await addEntry(tx, cause, order, {
    kind: 'received',
    reference,
    amountMinor,
    cause: use,
    ...(use === 'amount-differs' && { dueMinor: order.totalMinor }),
  });
  if (use === 'order-paid') await pay(tx, cause, order, entry);
  else await oweRefund(tx, cause, order, { amountMinor, cause: use, receivedAt: entry.at });
  countPayment(tx, use);
  return entry;
}

type Use = Exclude<NewEntry['cause'], 'lines-cancelled' | 'returned' | 'refund'>;

/** Decides whether a payment pays the order or becomes due as a refund. */
async function useOf(tx: Transaction, order: LockedOrder, amountMinor: number): Promise<Use> {
  if (order.status === 'cancelled') return 'cancelled';
  const payment = await findPayment(tx, order);
  if (payment !== undefined && payment.paidAt !== null) return 'paid-before';
  return amountMinor === order.totalMinor ? 'order-paid' : 'amount-differs';
}

async function pay(tx: Transaction, cause: Cause, order: LockedOrder, { amountMinor, at }: LedgerEntry): Promise<void> {
  const version = await changePayment(tx, order, { isPaid: true });
  await appendEvent(tx, {
    type: 'order.paid.v1',
    subject: order.id,
    sequence: version,
    requestId: cause.id,
    traceparent: cause.traceparent,
    data: { ...toAmount(order, amountMinor), paidAt: at.toISOString() },
  });
}

function differs({ amountMinor, dueMinor }: LedgerEntry, { money, currency }: Orders): Problem {
  const [received, due] = [money.toText(amountMinor), money.toText(dueMinor ?? 0)];
  return new Problem(
    'payment-amount-differs',
    `The order costs ${due} ${currency}, not ${received} ${currency}. The money is recorded and due as a refund.`,
    { errors: [{ pointer: '/amount', detail: `is ${received}, but ${due} is due`, due: Number(due) }] },
  );
}
