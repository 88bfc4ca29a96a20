// POST /v1/orders/{orderId}/refunds: records money that the payment provider has paid back.
import type { Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { idempotent } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { Operation } from '../context.ts';
import type { Cause } from '../order/change-status.ts';
import { countPayment } from '../order/measure-orders.ts';
import { type LockedOrder, lockOrder, type Orders } from '../order/order.ts';
import { changePayment, findPayment, toAmount } from '../order/order-payment.ts';
import { addEntry, findEntry, type LedgerEntry } from '../order/payment-ledger.ts';
import { readAmount, receipt, requireSame } from '../order/reported-money.ts';

/** 200 with the receipt; 409 for more than is due; 422 for a reference that was recorded with another content. */
export const recordRefund: Operation<'recordRefund'> = async (request, context) => {
  const amountMinor = readAmount(request, context.orders);
  const { orderId } = request.path;
  const { reference } = request.body;
  return idempotent(request, context, async (tx) => {
    const kept = await findEntry(tx, 'refunded', reference);
    const order = await lockOrder(tx, orderId, undefined);
    if (kept !== undefined) requireSame(kept, { orderId: order.id, amountMinor });
    const entry = kept ?? (await refund(tx, request, context.orders, order, { reference, amountMinor }));
    return receipt(context.orders, reference, entry, 'refunded');
  });
};

async function refund(
  tx: Transaction,
  cause: Cause,
  orders: Orders,
  order: LockedOrder,
  { reference, amountMinor }: { readonly reference: string; readonly amountMinor: number },
): Promise<LedgerEntry> {
  const due = (await findPayment(tx, order))?.refundDueMinor ?? '0';
  if (BigInt(amountMinor) > BigInt(due)) throw exceeds(orders, amountMinor, due);
  const entry = await addEntry(tx, cause, order, { kind: 'refunded', reference, amountMinor, cause: 'refund' });
  const version = await changePayment(tx, order, { refundedMinor: amountMinor });
  await appendEvent(tx, {
    type: 'refund.done.v1',
    subject: order.id,
    sequence: version,
    requestId: cause.id,
    traceparent: cause.traceparent,
    data: { ...toAmount(order, amountMinor), refundedAt: entry.at.toISOString() },
  });
  countPayment(tx, 'refunded');
  return entry;
}

function exceeds({ money, currency }: Orders, amountMinor: number, dueMinor: string): Problem {
  const [refunded, due] = [money.toText(amountMinor), money.write(dueMinor)];
  return new Problem(
    'refund-exceeds-due',
    `The refund is ${refunded} ${currency}, but ${due} ${currency} is due. Nothing was recorded.`,
    { errors: [{ pointer: '/amount', detail: `is ${refunded}, but ${due} is due`, due: Number(due) }] },
  );
}
