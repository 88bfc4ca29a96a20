// Lets operators list and show the invoices and credit notes, and prove that their numbers have no gap.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { type InvoiceRow, invoiceColumns, toInvoice } from '../invoices/find-invoice.ts';
import type { Invoice } from '../invoices/invoice.ts';

/** What a list shows of an invoice or a credit note. */
export type ListedInvoice = Pick<Invoice, 'kind' | 'number' | 'issuedAt' | 'orderId' | 'total' | 'currency'>;

/** The numbers of one kind and year. */
export interface InvoiceSeries {
  readonly kind: Invoice['kind'];
  readonly year: number;
  /** The last number that was taken. */
  readonly last: number;
  readonly documents: number;
  /** The first 100 numbers without a document. */
  readonly missing: readonly number[];
  /** Whether every number up to the last belongs to one document. */
  readonly isComplete: boolean;
}

/**
 * Returns the documents of a year in the order of their numbers.
 * @param environment the variables of orders, of which DATABASE_URL is read
 */
export function listInvoices(environment: Environment, year: number): Promise<ListedInvoice[]> {
  return withInvoices(environment, async (query) => {
    const rows = await query<InvoiceRow>(
      `SELECT ${invoiceColumns} FROM invoices WHERE year = $1 ORDER BY kind DESC, sequence`,
      [year],
    );
    return rows.map((row) => {
      const { kind, number, issuedAt, orderId, total, currency } = toInvoice(row);
      return { kind, number, issuedAt, orderId, total, currency };
    });
  });
}

/** Returns undefined for an unknown number. */
export function showInvoice(environment: Environment, number: string): Promise<Invoice | undefined> {
  return withInvoices(environment, async (query) => {
    // The number contains the year and the sequence, which the primary key finds.
    const [, year, sequence] = /(\d{4})-(\d{6,9})$/.exec(number) ?? [];
    const [row] = await query<InvoiceRow>(
      `SELECT ${invoiceColumns} FROM invoices
       WHERE year = $1 AND kind IN ('invoice', 'credit-note') AND sequence = $2 AND number = $3`,
      [year ?? 0, sequence ?? 0, number],
    );
    return row && toInvoice(row);
  });
}

/** Returns every series. */
export function verifyInvoices(environment: Environment): Promise<InvoiceSeries[]> {
  return withInvoices(environment, (query) =>
    query<InvoiceSeries>(
      `SELECT *, missing = '{}' AND documents = last AS "isComplete" FROM (
         SELECT kind, year, coalesce(last, 0) AS last, coalesce(documents, 0) AS documents,
           array(SELECT wanted FROM generate_series(1, greatest(last, highest)) AS wanted
             WHERE NOT EXISTS (SELECT FROM invoices WHERE invoices.year = series.year AND invoices.kind = series.kind
               AND invoices.sequence = wanted)
             ORDER BY wanted LIMIT 100) AS missing
         FROM (SELECT * FROM invoice_numbers FULL JOIN (
           SELECT kind, year, count(*)::int AS documents, max(sequence) AS highest FROM invoices GROUP BY kind, year
         ) AS issued USING (kind, year)) AS series
       ) AS read ORDER BY year, kind DESC`,
      [],
    ),
  );
}

type Query = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

function withInvoices<T>(environment: Environment, use: (query: Query) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'invoices' }, ({ pool }) =>
    use(async <Row extends object>(text: string, values: readonly unknown[]) => {
      const { rows } = await pool.query<Row>(text, [...values]);
      return rows;
    }),
  );
}
