// The invoice of an order with its credit notes, by what its caller may see.
import type { Caller } from '@shop/shared/auth';
import { type Result, toEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { OrderStore } from '../context.ts';
import type { components } from '../generated.ts';
import { isStaff, noSuchOrder } from '../order/order.ts';
import type { Invoice, InvoiceBody } from './invoice.ts';

export interface InvoiceRow {
  readonly kind: Invoice['kind'];
  readonly number: string;
  readonly issuedAt: Date;
  readonly body: InvoiceBody;
}

export const invoiceColumns = 'kind, number, issued_at AS "issuedAt", body';

export function toInvoice({ kind, number, issuedAt, body }: InvoiceRow): Invoice {
  return { kind, number, issuedAt: issuedAt.toISOString(), ...body };
}

/** @throws Problem 404, with another sentence for an order without an invoice */
export async function findInvoice(
  { database, invoices }: Pick<OrderStore, 'database' | 'invoices'>,
  caller: Caller,
  orderId: string,
): Promise<Result<components['schemas']['OrderInvoices']>> {
  const readAll = isStaff(caller);
  const { rows } = await database.pool.query<Partial<InvoiceRow>>({
    name: readAll ? 'any-invoice' : 'own-invoice',
    text: `SELECT ${invoiceColumns} FROM orders
           LEFT JOIN invoices ON invoices.order_id = orders.id AND invoices.account_id = orders.account_id
           WHERE orders.id = $1 ${readAll ? '' : 'AND orders.account_id = $2'}
           ORDER BY kind DESC, issued_at, sequence`,
    values: readAll ? [orderId] : [orderId, caller.accountId],
  });
  if (rows.length === 0) throw noSuchOrder();
  const [invoice, ...creditNotes] = rows.filter(isIssued).map(toInvoice);
  if (invoice === undefined) {
    const reason =
      invoices.seller === undefined ? 'The shop writes no invoices.' : 'The invoice is written when the order ships.';
    throw new Problem('not-found', reason);
  }
  // A document never changes, except that the buyer is removed.
  const etag = toEtag(`${creditNotes.length}${invoice.buyer === undefined ? '.removed' : ''}`);
  return { status: 200, etag, body: { invoice, creditNotes } };
}

function isIssued(row: Partial<InvoiceRow>): row is InvoiceRow {
  return row.number !== undefined && row.number !== null;
}
