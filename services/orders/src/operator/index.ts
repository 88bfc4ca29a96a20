// The operator's functions for orders. The command line calls these functions in its own process.

export type { FulfilmentState } from '../order/advance-order.ts';
export type { OrderTrace } from '../order/order-trace.ts';
export type { Allocate } from '../order/shipment.ts';
export type { SettingKind } from '../settings/setting-kinds.ts';
export { countOrders, type OrderCounts } from './count-orders.ts';
export { findPersonalData } from './find-personal-data.ts';
export { listRefundsDue, type RefundDue } from './list-refunds-due.ts';
export {
  type InvoiceSeries,
  type ListedInvoice,
  listInvoices,
  showInvoice,
  verifyInvoices,
} from './manage-invoices.ts';
export {
  advanceOrders,
  type ChangedOrder,
  cancelOrders,
  listAllOrders,
  type Order,
  type OrderSelection,
  type OrderWithHistory,
  showAnyOrder,
} from './manage-orders.ts';
export {
  type Arrival,
  approveReturn,
  listAllReturns,
  type Return,
  type ReturnSelection,
  receiveReturn,
  refuseReturn,
  showAnyReturn,
} from './manage-returns.ts';
export {
  archiveOne,
  changeSetting,
  createSetting,
  findSetting,
  listSettings,
  type Setting,
} from './manage-settings.ts';
export { seedDemoPrices } from './seed-demo-prices.ts';
export { traceOrder } from './trace-order.ts';
