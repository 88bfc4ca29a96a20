// GET /v1/orders/{orderId}: one order, for its owner and for staff that may read all.
import { requireCaller } from '@shop/shared/http';
import type { Operation, OrderStore } from '../context.ts';
import { findOrder } from '../order/find-order.ts';

/** 404 for an order that does not exist, and the same 404 for an order of another account. */
export const getOrder: Operation<'getOrder', OrderStore> = async (request, context) =>
  findOrder(context, requireCaller(request), request.path.orderId);
