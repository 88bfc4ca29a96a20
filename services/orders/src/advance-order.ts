// What staff does with an order on its way to the customer; process, ship and deliver differ only in where they lead.
import { appendEvent } from '@shop/shared/events';
import { callerOf, idempotent, type OperationRequest, type Reply, requireMatch } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { changeStatus } from './change-status.ts';
import type { OrderBook } from './context.ts';
import { lockOrder, showOrder } from './order.ts';
import { mayBecome } from './order-status.ts';

const events = {
  processing: 'order.processing.v1',
  shipped: 'order.shipped.v1',
  delivered: 'order.delivered.v1',
} as const;

/**
 * Moves any account's order to `to` and tells of it.
 * @throws Problem 409 for a transition that the table lacks, 412 when `If-Match` is stale
 */
export async function advanceOrder(
  request: OperationRequest,
  context: OrderBook,
  to: keyof typeof events,
): Promise<Reply> {
  const { orderId = '' } = request.path;
  return idempotent(request, context, async (tx) => {
    const order = await lockOrder(tx, orderId, undefined);
    requireMatch(request.headers, order.version);
    if (!mayBecome(order.status, to)) {
      throw new Problem('invalid-transition', `An order that is ${order.status} cannot become ${to}.`);
    }
    const { version } = await changeStatus(tx, request, order, { to, actor: 'staff' });
    await appendEvent(tx, {
      type: events[to],
      subject: order.id,
      sequence: version,
      requestId: request.id,
      traceparent: request.traceparent,
      data: { orderId: order.id, accountId: order.accountId, reservationId: order.reservationId },
    });
    return showOrder(tx, context.orders, callerOf(request), order);
  });
}
