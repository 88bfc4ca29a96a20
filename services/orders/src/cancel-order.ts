// POST /v1/orders/{orderId}/cancel: the owner cancels an order that has not shipped.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { callerOf, idempotent, type OperationRequest, type Reply } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { changeStatus } from './change-status.ts';
import type { Operation } from './context.ts';
import { type LockedOrder, lockOrder, requireVersion, showOrder } from './order.ts';
import { mayBecome } from './order-status.ts';

/**
 * 200 with the order, or 204 with `Prefer: return=minimal` (RFC 7240); 409 once it has shipped. Cancelling a cancelled
 * order changes nothing and publishes no event.
 */
export const cancelOrder: Operation<'cancelOrder'> = async (request, context) => {
  const caller = callerOf(request);
  const { orderId } = request.path;
  return idempotent(request, context, async (tx) => {
    const order = await lockOrder(tx, orderId, caller.accountId);
    requireVersion(request, order);
    if (order.status !== 'cancelled') {
      if (!mayBecome(order.status, 'cancelled')) {
        throw new Problem('order-already-shipped', `The order is ${order.status} and can no longer be cancelled.`);
      }
      await cancel(tx, request, order, request.body?.cancellation_reason);
    }
    const reply = await showOrder(tx, context.orders, caller, order);
    return prefersMinimal(request.headers.prefer) ? minimal(reply) : reply;
  });
};

async function cancel(
  tx: Transaction,
  request: OperationRequest,
  order: LockedOrder,
  reason: string | undefined,
): Promise<void> {
  const { version, changedAt } = await changeStatus(tx, request, order, { to: 'cancelled', actor: 'customer', reason });
  const items = await sql<{ productId: string; name: string; quantity: number }>(
    tx,
    `SELECT product_id AS "productId", name, quantity FROM order_lines
     WHERE order_id = $1 AND account_id = $2 ORDER BY position`,
    [order.id, order.accountId],
  );
  await appendEvent(tx, {
    type: 'order.cancelled.v1',
    subject: order.id,
    sequence: version,
    requestId: request.id,
    traceparent: request.traceparent,
    data: {
      orderId: order.id,
      accountId: order.accountId,
      reservationId: order.reservationId,
      items,
      reason: reason ?? null,
      cancelledAt: changedAt.toISOString(),
    },
  });
}

/**
 * Whether a `Prefer` header asks for `return=minimal`; the first of several `return` preferences counts (RFC 7240
 * section 2).
 */
function prefersMinimal(header: string | string[] | undefined): boolean {
  const preferences = [header ?? []].flat().join(',').toLowerCase().split(',');
  const wanted = preferences.map((preference) => preference.split(';')[0]?.trim() ?? '');
  const first = wanted.find((preference) => /^return\s*=/.test(preference));
  return first !== undefined && /^return\s*=\s*"?minimal"?$/.test(first);
}

function minimal({ etag }: Reply): Reply {
  const headers = { 'Preference-Applied': 'return=minimal' };
  return { status: 204, headers, ...(etag === undefined ? {} : { etag }) };
}
