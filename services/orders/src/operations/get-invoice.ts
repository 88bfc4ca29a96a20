// GET /v1/orders/{orderId}/invoice: the invoice of an order and its credit notes, for its owner and for staff.
import { requireCaller } from '@shop/shared/http';
import type { Operation, OrderStore } from '../context.ts';
import { findInvoice } from '../invoices/find-invoice.ts';
import { invoicePage } from '../invoices/invoice-page.ts';
import { findLanguage } from '../invoices/invoice-texts.ts';

/** 404 for an order of another account, before an order ships, and when the shop writes no invoices. */
export const getInvoice: Operation<'getInvoice', OrderStore> = async (request, context) => {
  const found = await findInvoice(context, requireCaller(request), request.path.orderId);
  return request.mediaType === 'text/html' ? invoicePage(found.body, findLanguage(request)) : found;
};
