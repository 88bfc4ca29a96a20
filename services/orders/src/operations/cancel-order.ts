// POST /v1/orders/{orderId}/cancel: the owner or staff cancels an order that has not shipped, or units of its lines.
import { idempotent, type OperationRequest, type Result, requireCaller } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { cancelLines } from '../order/cancel-lines.ts';
import { lockOrder, requireVersion, showOrder } from '../order/order.ts';
import { recordCancellation } from '../order/record-cancellation.ts';

/**
 * 200 with the order, or 204 with `Prefer: return=minimal` (RFC 7240); 409 once it has shipped. Cancelling a cancelled
 * order changes nothing and publishes no event.
 */
export const cancelOrder: Operation<'cancelOrder'> = async (request, context) => {
  const caller = requireCaller(request);
  const { orderId } = request.path;
  const isStaff = caller.scopes.has('orders:fulfil');
  return idempotent(request, context, async (tx) => {
    const order = await lockOrder(tx, orderId, isStaff ? undefined : caller.accountId);
    requireVersion(request, order);
    const actor = order.accountId === caller.accountId ? 'customer' : 'staff';
    const { cancellation_reason: reason, lines } = request.body ?? {};
    if (lines === undefined) await recordCancellation(tx, request, order, { actor, reason });
    else await cancelLines(tx, request, context.orders, order, { actor, reason, lines });
    const result = await showOrder(tx, context.orders, caller, order);
    return prefersMinimal(request.headers.prefer) ? minimal(result) : result;
  });
};

/**
 * Returns whether a `Prefer` header asks for `return=minimal`; the first of several `return` preferences counts (RFC
 * 7240 section 2).
 */
function prefersMinimal(header: OperationRequest['headers'][string]): boolean {
  const preferences = [header ?? []].flat().join(',').toLowerCase().split(',');
  const wanted = preferences.map((preference) => preference.split(';')[0]?.trim() ?? '');
  const first = wanted.find((preference) => /^return\s*=/.test(preference));
  return first !== undefined && /^return\s*=\s*"?minimal"?$/.test(first);
}

function minimal({ etag }: Result): Result {
  const headers = { 'Preference-Applied': 'return=minimal' };
  return { status: 204, headers, ...(etag === undefined ? {} : { etag }) };
}
