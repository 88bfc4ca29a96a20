// All operations of orders: operationId → function.

import type { Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { cancelOrder } from './operations/cancel-order.ts';
import { createOrder } from './operations/create-order.ts';
import { deliverOrder } from './operations/deliver-order.ts';
import { exportOrders } from './operations/export-orders.ts';
import { getOrder } from './operations/get-order.ts';
import { getOrderHistory } from './operations/get-order-history.ts';
import { listOrders } from './operations/list-orders.ts';
import { processOrder } from './operations/process-order.ts';
import { quoteOrder } from './operations/quote-order.ts';
import { recordPayment } from './operations/record-payment.ts';
import { recordRefund } from './operations/record-refund.ts';
import { resolveReservation } from './operations/resolve-reservation.ts';
import { shipOrder } from './operations/ship-order.ts';
import { traceOrder } from './operations/trace-order.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = {
  createOrder,
  quoteOrder,
  listOrders,
  getOrder,
  getOrderHistory,
  cancelOrder,
  processOrder,
  shipOrder,
  deliverOrder,
  recordPayment,
  recordRefund,
  resolveReservation,
  traceOrder,
  exportOrders,
};
