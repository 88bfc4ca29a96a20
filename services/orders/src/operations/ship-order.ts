// POST /v1/orders/{orderId}/ship: assigns units on hand to the order, and records that it has been shipped.
import { idempotent, storedResponse } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { advanceOrder } from '../order/advance-order.ts';
import { requireVersion } from '../order/order.ts';
import { findReducedLines, findShippable, toTracking } from '../order/shipment.ts';
import { allocateStock } from '../order/stock-reservation.ts';

/**
 * Returns 409 `stock-missing` when units are not on hand. Otherwise the responses are those of every transition by
 * staff.
 */
export const shipOrder: Operation<'shipOrder'> = async (request, context) => {
  const stored = await storedResponse(request, context);
  if (stored !== undefined) return stored;
  const order = await findShippable(context.database, request.path.orderId);
  if (order !== undefined) {
    requireVersion(request, order);
    const lines = await findReducedLines(context.database, order);
    const problem = await allocateStock(request, context, order.reservationId, lines);
    if (problem !== undefined) return idempotent(request, context, () => Promise.reject(problem));
  }
  return advanceOrder(request, context, 'shipped', toTracking(request.body));
};
