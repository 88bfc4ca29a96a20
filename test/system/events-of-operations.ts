// The events that each operation of the published contract publishes when it changes what a client can see.
import type { EventType } from '@shop/shared/events';

/** The types of the events, or the reason why the operation has none. */
export type PublishedBy = readonly EventType[] | { readonly none: string };

const sessions = 'sessions and tokens are no followed resource: the key set has the ended ones';
const webhooks = 'webhooks are no followed resource: their owner reads them';
const readsOnly = 'the operation only reads';

/** operationId → events of the operation's own service. */
export const eventsOfOperations: Readonly<Record<string, PublishedBy>> = {
  // accounts
  registerAccount: ['account.registered.v1'],
  updateAccount: ['account.updated.v1'],
  eraseAccount: ['account.updated.v1'],
  withdrawErasure: ['account.updated.v1'],
  blockAccount: ['account.updated.v1'],
  unblockAccount: ['account.updated.v1'],
  setTaxId: ['account.updated.v1'],
  verifyEmail: ['account.updated.v1'],
  undoEmailChange: ['account.updated.v1'],
  confirmPasswordReset: ['account.updated.v1'],
  resendVerification: { none: 'the operation sends an e-mail, and changes no account' },
  requestPasswordReset: { none: 'the operation sends an e-mail, and changes no account' },
  sendPasswordReset: { none: 'the operation sends an e-mail, and changes no account' },
  endAccountSessions: { none: sessions },
  issueToken: { none: sessions },
  revokeToken: { none: sessions },
  endOtherSessions: { none: sessions },
  endSession: { none: sessions },
  // catalogue
  createProduct: ['product.created.v1'],
  updateProduct: ['product.updated.v1', 'stock.changed.v1', 'stock.low.v1'],
  archiveProduct: ['product.archived.v1'],
  importProducts: ['product.created.v1', 'product.updated.v1'],
  searchProducts: { none: readsOnly },
  // orders
  createOrder: ['order.created.v1'],
  quoteOrder: { none: readsOnly },
  cancelOrder: ['order.cancelled.v1', 'order.lines-cancelled.v1', 'refund.due.v1'],
  processOrder: ['order.processing.v1'],
  // The shop of the test writes invoices and credit notes.
  shipOrder: ['order.shipped.v1', 'invoice.issued.v1'],
  deliverOrder: ['order.delivered.v1'],
  createReturn: ['return.requested.v1'],
  approveReturn: ['return.approved.v1'],
  refuseReturn: ['return.refused.v1'],
  receiveReturn: ['return.received.v1', 'order.returned.v1', 'refund.due.v1', 'invoice.issued.v1'],
  withdrawReturn: ['return.withdrawn.v1'],
  recordPayment: ['order.paid.v1'],
  recordRefund: ['refund.done.v1'],
  createShippingMethod: ['setting.changed.v1'],
  updateShippingMethod: ['setting.changed.v1'],
  archiveShippingMethod: ['setting.changed.v1'],
  createTaxRate: ['setting.changed.v1'],
  updateTaxRate: ['setting.changed.v1'],
  archiveTaxRate: ['setting.changed.v1'],
  createDiscount: ['setting.changed.v1'],
  updateDiscount: ['setting.changed.v1'],
  archiveDiscount: ['setting.changed.v1'],
  // changes
  createWebhook: { none: webhooks },
  updateWebhook: { none: webhooks },
  deleteWebhook: { none: webhooks },
  testWebhook: { none: webhooks },
  replayWebhook: { none: webhooks },
  rotateWebhookSecret: { none: webhooks },
};
