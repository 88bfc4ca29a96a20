// GET /internal/orders/{orderId}/trace: the history of an order in the orders service, for operators.
import { toTraceStep } from '@shop/shared/events';
import type { Operation, OrderStore } from '../context.ts';
import { noSuchOrder } from '../order/order.ts';
import { readOrderTrace } from '../order/order-trace.ts';

/** Returns 404 for an unknown order. */
export const traceOrder: Operation<'traceOrder', OrderStore> = async ({ path: { orderId } }, { database }) => {
  const trace = await readOrderTrace(database.pool, orderId);
  if (trace === undefined) throw noSuchOrder();
  const { accountId, reservationId, status, steps } = trace;
  return { status: 200, body: { orderId, accountId, reservationId, status, steps: steps.map(toTraceStep) } };
};
