// Issues the invoice of an order that ships, and the credit note of a return. A number belongs to the transaction that
// takes it, so a series has no gap and each number one document.
import { sql, type Transaction } from '@shop/shared/database';
import type { NewEvent } from '@shop/shared/events';
import type { Cause } from '../order/change-status.ts';
import type { LockedOrder } from '../order/order.ts';
import { readLines } from '../order/order-lines.ts';
import type { Invoice, InvoiceBody, InvoiceKind, InvoiceWriter, IssuedNumber } from './invoice.ts';
import { type ReturnedLines, sumsOfReturn, sumsOfShipment } from './invoice-body.ts';

/** A document that was issued. */
export interface IssuedInvoice extends IssuedNumber, Pick<Invoice, 'kind' | 'total' | 'invoiceNumber'> {}

/**
 * Issues the invoice of a locked order that ships. Returns undefined when the shop writes none.
 *
 * The series stays locked until the transaction ends, so few statements should follow.
 */
export async function issueInvoice(
  tx: Transaction,
  { orders, invoices: { seller, prefix } }: InvoiceWriter,
  order: LockedOrder,
): Promise<IssuedInvoice | undefined> {
  if (seller === undefined) return undefined;
  const sums = sumsOfShipment(orders, order, await readLines(tx, order));
  const body = { seller, ...(await readSale(tx, order)), ...sums };
  return { ...(await insert(tx, order, prefix, 'invoice', body)), kind: 'invoice', total: body.total };
}

export interface ReceivedUnits extends ReturnedLines {
  readonly returnId: string;
}

/**
 * Issues the credit note of units that came back, with the seller and the buyer of the invoice. Returns undefined
 * without an invoice, and when no unit came back. As of `issueInvoice`, few statements should follow.
 */
export async function issueCreditNote(
  tx: Transaction,
  { orders, invoices: { prefix } }: InvoiceWriter,
  order: LockedOrder,
  { returnId, ...units }: ReceivedUnits,
): Promise<IssuedInvoice | undefined> {
  const sums = sumsOfReturn(orders, order, units);
  if (sums.lines.length === 0) return undefined;
  const [invoice] = await sql<{ number: string; body: InvoiceBody }>(
    tx,
    "SELECT number, body FROM invoices WHERE order_id = $1 AND account_id = $2 AND kind = 'invoice'",
    [order.id, order.accountId],
  );
  if (invoice === undefined) return undefined;
  const { seller, buyer, orderId, orderedAt } = invoice.body;
  const body = {
    ...{ invoiceNumber: invoice.number, returnId, seller },
    ...(buyer && { buyer }),
    ...{ orderId, orderedAt },
    ...sums,
  };
  const { total, invoiceNumber } = body;
  return {
    ...(await insert(tx, order, `${prefix}CN-`, 'credit-note', body)),
    kind: 'credit-note',
    total,
    invoiceNumber,
  };
}

/** Returns the event about a document. */
export function issuedEvent(
  { id: requestId, traceparent }: Cause,
  { id: orderId, accountId, currency }: LockedOrder,
  { issuedAt, version, ...issued }: IssuedInvoice,
): NewEvent<'invoice.issued.v1'> {
  const data = { ...issued, orderId, accountId, currency, issuedAt: issuedAt.toISOString() };
  return { type: 'invoice.issued.v1', subject: orderId, sequence: version, requestId, traceparent, data };
}

interface SaleRow {
  readonly createdAt: Date;
  readonly address: Readonly<Record<string, string>> | null;
  readonly name: string | null;
  /** The tax id because of which the order is free of tax, or else that of the customer at present. */
  readonly taxId: string | null;
}

/** Returns the members that follow from the order and its customer. */
async function readSale(
  tx: Transaction,
  { id, accountId }: LockedOrder,
): Promise<Pick<InvoiceBody, 'buyer' | 'orderId' | 'orderedAt'>> {
  const [row] = await sql<SaleRow>(
    tx,
    `SELECT created_at AS "createdAt", shipping_address AS address,
       coalesce(customers.name, shipping_address ->> 'recipient') AS name,
       coalesce(orders.tax_id, customers.tax_id) ->> 'value' AS "taxId"
     FROM orders LEFT JOIN customers ON customers.account_id = orders.account_id
     WHERE id = $1 AND orders.account_id = $2`,
    [id, accountId],
  );
  if (row === undefined) throw new Error(`order ${id} is not locked`);
  const { createdAt, address, name, taxId } = row;
  return {
    buyer: { ...(name !== null && { name }), ...(address && { address }), ...(taxId !== null && { taxId }) },
    orderId: id,
    orderedAt: createdAt.toISOString(),
  };
}

/**
 * Takes the next number of the present year (UTC) and stores the document. The order gets a further version, because
 * each event about it has a version of its own.
 */
async function insert(
  tx: Transaction,
  { id, accountId }: LockedOrder,
  prefix: string,
  kind: InvoiceKind,
  body: InvoiceBody,
): Promise<IssuedNumber> {
  const [issued] = await sql<IssuedNumber>(
    tx,
    `WITH series AS (
       INSERT INTO invoice_numbers AS series (kind, year, last)
       VALUES ($1, extract(year FROM now() AT TIME ZONE 'UTC'), 1)
       ON CONFLICT (kind, year) DO UPDATE SET last = series.last + 1
       RETURNING year, last
     ), changed AS (
       UPDATE orders SET version = version + 1 WHERE id = $3 AND account_id = $4 RETURNING version
     )
     INSERT INTO invoices (number, kind, year, sequence, order_id, account_id, return_id, body, issued_at)
     SELECT $2 || year || '-' || lpad(last::text, greatest(6, length(last::text)), '0'), $1, year, last, $3, $4, $5,
       $6::json, now()
     FROM series
     RETURNING number, issued_at AS "issuedAt", (SELECT version FROM changed)`,
    [kind, prefix, id, accountId, body.returnId ?? null, JSON.stringify(body)],
  );
  if (issued === undefined) throw new Error('an inserted document left no row');
  return issued;
}
