// All operations of orders: operationId → function.

import type { Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { approveReturn } from './operations/approve-return.ts';
import { archiveDiscount } from './operations/archive-discount.ts';
import { archiveShippingMethod } from './operations/archive-shipping-method.ts';
import { archiveTaxRate } from './operations/archive-tax-rate.ts';
import { cancelOrder } from './operations/cancel-order.ts';
import { createDiscount } from './operations/create-discount.ts';
import { createOrder } from './operations/create-order.ts';
import { createReturn } from './operations/create-return.ts';
import { createShippingMethod } from './operations/create-shipping-method.ts';
import { createTaxRate } from './operations/create-tax-rate.ts';
import { deliverOrder } from './operations/deliver-order.ts';
import { exportOrders } from './operations/export-orders.ts';
import { getDiscount } from './operations/get-discount.ts';
import { getInvoice } from './operations/get-invoice.ts';
import { getOrder } from './operations/get-order.ts';
import { getOrderHistory } from './operations/get-order-history.ts';
import { getReturn } from './operations/get-return.ts';
import { getShippingMethod } from './operations/get-shipping-method.ts';
import { getTaxRate } from './operations/get-tax-rate.ts';
import { listDiscounts } from './operations/list-discounts.ts';
import { listOrders } from './operations/list-orders.ts';
import { listReturns } from './operations/list-returns.ts';
import { listShippingMethods } from './operations/list-shipping-methods.ts';
import { listTaxRates } from './operations/list-tax-rates.ts';
import { processOrder } from './operations/process-order.ts';
import { quoteOrder } from './operations/quote-order.ts';
import { receiveReturn } from './operations/receive-return.ts';
import { recordPayment } from './operations/record-payment.ts';
import { recordRefund } from './operations/record-refund.ts';
import { refuseReturn } from './operations/refuse-return.ts';
import { resolveReservation } from './operations/resolve-reservation.ts';
import { shipOrder } from './operations/ship-order.ts';
import { traceOrder } from './operations/trace-order.ts';
import { updateDiscount } from './operations/update-discount.ts';
import { updateShippingMethod } from './operations/update-shipping-method.ts';
import { updateTaxRate } from './operations/update-tax-rate.ts';
import { withdrawReturn } from './operations/withdraw-return.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = {
  createOrder,
  quoteOrder,
  listOrders,
  getOrder,
  getOrderHistory,
  getInvoice,
  cancelOrder,
  processOrder,
  shipOrder,
  deliverOrder,
  createReturn,
  listReturns,
  getReturn,
  approveReturn,
  refuseReturn,
  receiveReturn,
  withdrawReturn,
  recordPayment,
  recordRefund,
  resolveReservation,
  traceOrder,
  exportOrders,
  listShippingMethods,
  getShippingMethod,
  createShippingMethod,
  updateShippingMethod,
  archiveShippingMethod,
  listTaxRates,
  getTaxRate,
  createTaxRate,
  updateTaxRate,
  archiveTaxRate,
  listDiscounts,
  getDiscount,
  createDiscount,
  updateDiscount,
  archiveDiscount,
};
