// GET /v1/orders/{orderId}/invoice: the invoice of an order and its credit notes, for its owner and for staff.
import { requireCaller } from '@shop/shared/http';
import type { Operation, OrderStore } from '../context.ts';
import { findInvoice } from '../invoices/find-invoice.ts';

/** 404 for an order of another account, before an order ships, and when the shop writes no invoices. */
export const getInvoice: Operation<'getInvoice', OrderStore> = async (request, context) =>
  findInvoice(context, requireCaller(request), request.path.orderId);
