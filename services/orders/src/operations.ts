// All operations of orders: operationId → function.
import { cancelOrder } from './cancel-order.ts';
import type { Operation } from './context.ts';
import { createOrder } from './create-order.ts';
import { deliverOrder } from './deliver-order.ts';
import { exportOrders } from './export-orders.ts';
import type { operations as contract } from './generated.ts';
import { getOrder } from './get-order.ts';
import { getOrderHistory } from './get-order-history.ts';
import { listOrders } from './list-orders.ts';
import { processOrder } from './process-order.ts';
import { recordPayment } from './record-payment.ts';
import { recordRefund } from './record-refund.ts';
import { resolveReservation } from './resolve-reservation.ts';
import { shipOrder } from './ship-order.ts';
import { traceOrder } from './trace-order.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = {
  createOrder,
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
