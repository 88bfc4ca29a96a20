import { newId } from '@shop/shared/runtime';
import {
  type AccessCaller,
  type AccessRule,
  type AccessRules,
  type AccessTarget,
  type SettingResource,
  unlessAbsent,
} from '@shop/shared/testing';

const ownOrder = (caller: AccessCaller, target: AccessTarget) => (caller === 'owner' && target === 'own' ? 200 : 404);
const cancelOrder = (caller: AccessCaller, target: AccessTarget) =>
  target !== 'absent' && caller === 'fulfiller' ? 200 : ownOrder(caller, target);
const isReader = (caller: AccessCaller) => caller === 'reader' || caller === 'machine';
const readOrder = (caller: AccessCaller, target: AccessTarget) =>
  target !== 'absent' && isReader(caller) ? 200 : ownOrder(caller, target);
const readReturn = (caller: AccessCaller, target: AccessTarget) =>
  target !== 'absent' && caller === 'fulfiller' ? 200 : readOrder(caller, target);
/** The returns of the test are withdrawn. */
const stepOfReturn = { resource: 'return', scope: 'orders:fulfil', expected: unlessAbsent(409) } satisfies AccessRule;
/** Each report has its own reference. */
const reported = () => ({ reference: newId(), amount: 1, currency: 'EUR' });
/** The orders of the test are cancelled. */
const fulfil: AccessRule = { resource: 'order', scope: 'orders:fulfil', expected: unlessAbsent(409) };

/** Each tax rate has a region of its own, because two equal ones are refused. */
const settings = {
  shippingMethod: () => ({ name: { en: 'Standard' }, price: 7.9 }),
  taxRate: () => ({ country: 'CH', region: newId(), rate: 8.1, name: 'VAT' }),
  discount: () => ({ name: 'Sale', kind: 'percent', value: 10 }),
};

/** Returns the rules of the operations on one kind of settings, for their staff. */
function settingRules(resource: SettingResource, change: unknown) {
  const scope = 'settings:write';
  return {
    list: { scope, expected: () => 200 },
    get: { resource, scope, expected: unlessAbsent(200) },
    create: { scope, body: settings[resource], expected: () => 201 },
    update: { resource, scope, body: () => change, expected: unlessAbsent(200) },
    archive: { resource, scope, expected: unlessAbsent(204) },
  } satisfies AccessRules;
}

const shippingMethod = settingRules('shippingMethod', { price: 8.9 });
const taxRate = settingRules('taxRate', { name: 'Value added tax' });
const discount = settingRules('discount', { value: 15 });

export const accessRules: AccessRules = {
  createOrder: { body: () => ({ items: [{ productId: newId(), quantity: 1 }] }), expected: () => 422 },
  quoteOrder: { public: true, body: () => ({ items: [{ productId: newId(), quantity: 1 }] }), expected: () => 200 },
  // A machine has no orders of its own, and lists those of others.
  listOrders: { forMachines: true, expected: (caller) => (caller === 'machine' ? 403 : 200) },
  getOrder: { resource: 'order', forMachines: true, expected: readOrder },
  getOrderHistory: { resource: 'order', forMachines: true, expected: readOrder },
  // The shop of the test writes no invoices.
  getInvoice: { resource: 'order', forMachines: true, expected: () => 404 },
  cancelOrder: { resource: 'order', expected: cancelOrder },
  processOrder: fulfil,
  shipOrder: fulfil,
  deliverOrder: fulfil,
  createReturn: {
    resource: 'order',
    body: () => ({ lines: [{ productId: newId(), quantity: 1, reason: 'other' }] }),
    expected: (caller, target) => (cancelOrder(caller, target) === 200 ? 409 : 404),
  },
  // A machine has no returns of its own, and lists those of others.
  listReturns: { forMachines: true, expected: (caller) => (caller === 'machine' ? 403 : 200) },
  getReturn: { resource: 'return', forMachines: true, expected: readReturn },
  approveReturn: stepOfReturn,
  refuseReturn: { ...stepOfReturn, body: () => ({ reason: 'Broken' }) },
  receiveReturn: {
    ...stepOfReturn,
    body: () => ({ lines: [{ productId: newId(), quantity: 1, restock: true }] }),
  },
  withdrawReturn: { resource: 'return', expected: cancelOrder },
  recordPayment: { resource: 'order', scope: 'payments:write', body: reported, expected: unlessAbsent(200) },
  // Whether a refund is due depends on the payments that other callers report.
  recordRefund: {
    resource: 'order',
    scope: 'payments:write',
    body: () => ({ ...reported(), amount: 1e9 }),
    expected: unlessAbsent(409),
  },
  listShippingMethods: { public: true, expected: () => 200 },
  getShippingMethod: { resource: 'shippingMethod', public: true, expected: unlessAbsent(200) },
  createShippingMethod: shippingMethod.create,
  updateShippingMethod: shippingMethod.update,
  archiveShippingMethod: shippingMethod.archive,
  listTaxRates: taxRate.list,
  getTaxRate: taxRate.get,
  createTaxRate: taxRate.create,
  updateTaxRate: taxRate.update,
  archiveTaxRate: taxRate.archive,
  listDiscounts: discount.list,
  getDiscount: discount.get,
  createDiscount: discount.create,
  updateDiscount: discount.update,
  archiveDiscount: discount.archive,
};
