// GET /v1/orders/{orderId}/history: every transition of the order, and every cancellation of units of its lines.
import { requireCaller, toEtag } from '@shop/shared/http';
import type { Operation, OrderStore } from '../context.ts';
import { findHistory } from '../order/order-history.ts';

/** Lists the history, oldest first. The 404 is the same as for the order itself. */
export const getOrderHistory: Operation<'getOrderHistory', OrderStore> = async (request, context) => {
  const { version, items } = await findHistory(context, requireCaller(request), request.path.orderId);
  return { status: 200, etag: toEtag(version), body: { items } };
};
