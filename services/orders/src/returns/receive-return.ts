// Records the units of a locked return that arrived: the order shows them, what was paid for them becomes due as a
// refund, and the catalogue gets the event for the stock.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { type Fault, Problem } from '@shop/shared/problem';
import type { components } from '../generated.ts';
import type { InvoiceWriter } from '../invoices/invoice.ts';
import { issueCreditNote, issuedEvent } from '../invoices/issue-invoice.ts';
import type { LockedOrder, Orders } from '../order/order.ts';
import { type OrderLine, readLines } from '../order/order-lines.ts';
import { findPayment, oweRefund, refundFor } from '../order/order-payment.ts';
import { toStoredPrices } from '../order/order-prices.ts';
import { totalsAfterReturns, totalsOfOrder } from '../order/order-totals.ts';
import { type Change, isToBecome, updateReturn } from './change-return.ts';
import { requireOnce } from './request-return.ts';
import type { LockedReturn, ReturnLine } from './return.ts';
import { appendReturnEvent } from './return-events.ts';

export type ReceivedLine = components['schemas']['ReceivedReturn']['lines'][number];

export interface Receipt extends InvoiceWriter {
  /** Whether the price of shipping is kept when everything that was sent comes back. */
  readonly keepShipping: boolean;
  readonly lines: readonly ReceivedLine[];
}

/** A return that was received stays unchanged. */
export const receiveWith =
  ({ lines: given, ...context }: Receipt): Change =>
  async (tx, cause, present) => {
    if (!isToBecome(present, 'received')) return;
    const { order } = present;
    const { orders, keepShipping } = context;
    const lines = toReceived(present, given);
    const before = await readLines(tx, order);
    const units = new Map(lines.map(({ productId, received = 0 }) => [productId, received]));
    const after = before.map((line) => {
      const returnedQuantity = line.returnedQuantity + (units.get(line.productId) ?? 0);
      return { ...line, returnedQuantity };
    });
    const priceOf = (left: readonly OrderLine[]): number => totalsAfterReturns(order, left, keepShipping).totalMinor;
    const costMinor = priceOf(before) - priceOf(after);
    const payment = await findPayment(tx, order);
    const refund = refundFor(order, payment, costMinor);
    const orderVersion = await updateOrder(tx, orders, order, after);
    const items = lines.flatMap(({ productId, name, received = 0 }) =>
      received === 0 ? [] : [{ productId, name, quantity: received }],
    );
    const { version, changedAt } = await updateReturn(tx, present, {
      status: 'received',
      lines,
      refundMinor: refund && costMinor,
      isRestocked: lines.some(({ received = 0, restock }) => restock === true && received > 0),
    });
    if (items.length > 0) {
      await appendEvent(tx, {
        type: 'order.returned.v1',
        subject: order.id,
        sequence: orderVersion,
        requestId: cause.id,
        traceparent: cause.traceparent,
        data: {
          orderId: order.id,
          accountId: order.accountId,
          returnId: present.id,
          items,
          returnedAt: changedAt.toISOString(),
        },
      });
    }
    if (refund !== undefined) {
      await oweRefund(tx, cause, order, { amountMinor: costMinor, cause: 'returned', returnId: present.id });
    }
    const creditNote = await issueCreditNote(tx, context, order, {
      returnId: present.id,
      ...{ before, after, keepShipping },
    });
    await appendReturnEvent(tx, cause, { ...present, version }, 'return.received.v1', {
      lines: lines.flatMap(({ productId, name, received = 0, restock = false }) =>
        received === 0 ? [] : [{ productId, name, quantity: received, restock }],
      ),
      changedAt: changedAt.toISOString(),
      ...(refund && { refund }),
      ...(creditNote && { creditNoteNumber: creditNote.number }),
    });
    if (creditNote !== undefined) await appendEvent(tx, issuedEvent(cause, order, creditNote));
  };

/**
 * Returns the lines of the return with what arrived.
 * @throws Problem 400 when a line is missing or named twice, 409 for more units than the return has
 */
function toReceived({ lines }: LockedReturn, given: readonly ReceivedLine[]): ReturnLine[] {
  requireOnce(given);
  const errors = given.flatMap(({ productId, quantity }, position): Fault[] => {
    const remaining = lines.find((line) => line.productId === productId)?.quantity ?? 0;
    if (quantity <= remaining && lines.some((line) => line.productId === productId)) return [];
    const detail = `${quantity} have arrived, the return has ${remaining}`;
    return [{ pointer: `/lines/${position}`, detail, productId, requested: quantity, remaining }];
  });
  if (errors.length > 0) {
    throw new Problem('units-not-in-order', 'The return has fewer units than arrived. Nothing was recorded.', {
      errors,
    });
  }
  const received = new Map(given.map((line) => [line.productId, line]));
  const missing = lines.filter(({ productId }) => !received.has(productId));
  if (missing.length > 0) {
    throw new Problem('invalid-request', 'Every line of the return is needed, with 0 when nothing of it arrived.', {
      errors: missing.map(({ productId }) => ({
        pointer: '/lines',
        detail: `lacks the product ${productId}`,
        productId,
      })),
    });
  }
  return lines.map((line) => {
    const { quantity = 0, restock = false } = received.get(line.productId) ?? {};
    return { ...line, received: quantity, restock };
  });
}

/**
 * The order shows the units that came back. Its amounts stay, because they are those of what was shipped. Returns its
 * version.
 */
async function updateOrder(
  tx: Transaction,
  orders: Orders,
  order: LockedOrder,
  lines: readonly OrderLine[],
): Promise<number> {
  const prices = toStoredPrices(orders, { lines, priced: totalsOfOrder(order, lines).priced });
  const [updated] = await sql<{ version: number }>(
    tx,
    `WITH lines AS (
       UPDATE order_lines SET returned_quantity = given.quantity
       FROM unnest($4::uuid[], $5::int[]) AS given (product_id, quantity)
       WHERE order_id = $1 AND account_id = $2 AND order_lines.product_id = given.product_id
     )
     UPDATE orders SET prices = $3::json, version = version + 1, updated_at = greatest(now(), updated_at)
     WHERE id = $1 AND account_id = $2 RETURNING version`,
    [
      order.id,
      order.accountId,
      prices === undefined ? null : JSON.stringify(prices),
      lines.map(({ productId }) => productId),
      lines.map(({ returnedQuantity }) => returnedQuantity),
    ],
  );
  if (updated === undefined) throw new Error(`order ${order.id} is not locked`);
  return updated.version;
}
