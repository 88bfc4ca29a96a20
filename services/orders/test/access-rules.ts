import { newId } from '@shop/shared/runtime';
import {
  type AccessCaller,
  type AccessRule,
  type AccessRules,
  type AccessTarget,
  unlessAbsent,
} from '@shop/shared/testing';

const ownOrder = (caller: AccessCaller, target: AccessTarget) => (caller === 'owner' && target === 'own' ? 200 : 404);
const cancelOrder = (caller: AccessCaller, target: AccessTarget) =>
  target !== 'absent' && caller === 'fulfiller' ? 200 : ownOrder(caller, target);
const isReader = (caller: AccessCaller) => caller === 'reader' || caller === 'machine';
const readOrder = (caller: AccessCaller, target: AccessTarget) =>
  target !== 'absent' && isReader(caller) ? 200 : ownOrder(caller, target);
/** Each report has its own reference. */
const reported = () => ({ reference: newId(), amount: 1, currency: 'EUR' });
/** The orders of the test are cancelled. */
const fulfil: AccessRule = { resource: 'order', scope: 'orders:fulfil', expected: unlessAbsent(409) };

export const accessRules: AccessRules = {
  createOrder: { body: () => ({ items: [{ productId: newId(), quantity: 1 }] }), expected: () => 422 },
  quoteOrder: { body: () => ({ items: [{ productId: newId(), quantity: 1 }] }), expected: () => 200 },
  // A machine has no orders of its own, and lists those of others.
  listOrders: { forMachines: true, expected: (caller) => (caller === 'machine' ? 403 : 200) },
  getOrder: { resource: 'order', forMachines: true, expected: readOrder },
  getOrderHistory: { resource: 'order', forMachines: true, expected: readOrder },
  cancelOrder: { resource: 'order', expected: cancelOrder },
  processOrder: fulfil,
  shipOrder: fulfil,
  deliverOrder: fulfil,
  recordPayment: { resource: 'order', scope: 'payments:write', body: reported, expected: unlessAbsent(200) },
  // Whether a refund is due depends on the payments that other callers report.
  recordRefund: {
    resource: 'order',
    scope: 'payments:write',
    body: () => ({ ...reported(), amount: 1e9 }),
    expected: unlessAbsent(409),
  },
};
