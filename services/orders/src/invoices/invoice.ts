// Invoices and credit notes: who writes them, and the members of one.
import type { components } from '../generated.ts';
import type { Orders } from '../order/order.ts';

/** An invoice or a credit note as the API shows it. */
export type Invoice = components['schemas']['Invoice'];
export type InvoiceKind = Invoice['kind'];

/** What is stored of a document. Its kind, its number and its time are columns. */
export type InvoiceBody = Omit<Invoice, 'kind' | 'number' | 'issuedAt'>;

export interface InvoiceSettings {
  /** Undefined when the shop writes no invoices. */
  readonly seller: Invoice['seller'] | undefined;
  /** The beginning of every number. */
  readonly prefix: string;
}

/** What issuing a document needs. */
export interface InvoiceWriter {
  readonly orders: Orders;
  readonly invoices: InvoiceSettings;
}

/** The number of a new document. */
export interface IssuedNumber {
  readonly number: string;
  /** The version of the order. */
  readonly version: number;
  readonly issuedAt: Date;
}
