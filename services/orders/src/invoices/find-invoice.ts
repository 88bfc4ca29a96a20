// The invoice of an order with its credit notes, by what its caller may see.
import type { Caller } from '@shop/shared/auth';
import { toEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { OrderStore } from '../context.ts';
import type { components } from '../generated.ts';
import { isStaff } from '../order/order.ts';
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

/** @throws Problem 404, the same for every order without an invoice that the caller may see */
export async function findInvoice(
  { database, invoices }: Pick<OrderStore, 'database' | 'invoices'>,
  caller: Caller,
  orderId: string,
): Promise<{ readonly status: 200; readonly etag: string; readonly body: components['schemas']['OrderInvoices'] }> {
  const readAll = isStaff(caller);
  const { rows } = await database.pool.query<InvoiceRow>({
    name: readAll ? 'any-invoice' : 'own-invoice',
    text: `SELECT ${invoiceColumns} FROM invoices WHERE order_id = $1 ${readAll ? '' : 'AND account_id = $2'}
           ORDER BY kind DESC, issued_at, sequence`,
    values: readAll ? [orderId] : [orderId, caller.accountId],
  });
  const [invoice, ...creditNotes] = rows.map(toInvoice);
  if (invoice === undefined) {
    const isOff = invoices.seller === undefined;
    throw new Problem(
      'not-found',
      isOff
        ? 'The shop writes no invoices.'
        : 'There is no order with this id that has an invoice. It gets one when it ships.',
    );
  }
  // A document never changes, except that the buyer is removed.
  const etag = toEtag(`${creditNotes.length}${invoice.buyer === undefined ? '.removed' : ''}`);
  return { status: 200, etag, body: { invoice, creditNotes } };
}
