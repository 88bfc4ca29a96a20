// The steps by which staff advances an order. Process, ship and deliver differ only in the new state.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvents, type EventPayloads, type NewEvent } from '@shop/shared/events';
import { idempotent, type OperationRequest, type Result, requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { OrderStore } from '../context.ts';
import type { InvoiceWriter } from '../invoices/invoice.ts';
import { issuedEvent, issueInvoice } from '../invoices/issue-invoice.ts';
import { type Cause, changeStatus, type Tracking } from './change-status.ts';
import { type LockedOrder, lockOrder, requireVersion, showOrder } from './order.ts';
import { readRemaining, toItem } from './order-lines.ts';
import { requirePaid } from './order-payment.ts';
import { mayBecome } from './order-status.ts';

const events = {
  processing: 'order.processing.v1',
  shipped: 'order.shipped.v1',
  delivered: 'order.delivered.v1',
} as const;

export type FulfilmentState = keyof typeof events;

type Shipment = Pick<EventPayloads['order.shipped.v1'], 'items' | 'shippingAddress' | 'tracking'>;

/**
 * Moves an order of any account to `to`.
 * @throws Problem 409 for a transition that is not in the table, 412 when `If-Match` is stale
 */
export async function advanceOrder(
  request: OperationRequest,
  context: OrderStore,
  to: FulfilmentState,
  tracking?: Tracking,
): Promise<Result> {
  const { orderId = '' } = request.path;
  return idempotent(request, context, async (tx) => {
    const order = await lockOrder(tx, orderId, undefined);
    requireVersion(request, order);
    await moveOrder(tx, request, context, order, { to, tracking });
    return showOrder(tx, context.orders, requireCaller(request), order);
  });
}

export interface Move {
  readonly to: FulfilmentState;
  readonly tracking: Tracking | undefined;
}

/**
 * Moves a locked order to `to`, issues the invoice when it ships, and publishes the events.
 * @throws Problem 409 for a transition that is not in the table, or when the order has to be paid first
 */
export async function moveOrder(
  tx: Transaction,
  cause: Cause,
  writer: InvoiceWriter,
  order: LockedOrder,
  { to, tracking }: Move,
): Promise<void> {
  if (!mayBecome(order.status, to)) {
    throw new Problem('invalid-transition', `An order that is ${order.status} cannot become ${to}.`);
  }
  if (to === 'processing') await requirePaid(tx, order);
  const { version } = await changeStatus(tx, cause, order, { to, actor: 'staff', tracking });
  const shipment = to === 'shipped' ? await readShipment(tx, order) : undefined;
  const invoice = to === 'shipped' ? await issueInvoice(tx, writer, order) : undefined;
  const moved: NewEvent<(typeof events)[FulfilmentState]> = {
    type: events[to],
    subject: order.id,
    sequence: version,
    requestId: cause.id,
    traceparent: cause.traceparent,
    data: {
      orderId: order.id,
      accountId: order.accountId,
      reservationId: order.reservationId,
      ...shipment,
      ...(invoice && { invoiceNumber: invoice.number }),
    },
  };
  await appendEvents(tx, invoice === undefined ? [moved] : [moved, issuedEvent(cause, order, invoice)]);
}

/** Returns the further members of the event of a shipment. */
async function readShipment(tx: Transaction, order: LockedOrder): Promise<Shipment> {
  const items = (await readRemaining(tx, order)).map(toItem);
  const [shipment] = await sql<{ shippingAddress: Shipment['shippingAddress'] | null; tracking: Tracking | null }>(
    tx,
    'SELECT shipping_address AS "shippingAddress", tracking FROM orders WHERE id = $1 AND account_id = $2',
    [order.id, order.accountId],
  );
  const { shippingAddress, tracking } = shipment ?? {};
  return { items, ...(shippingAddress && { shippingAddress }), ...(tracking && { tracking }) };
}
