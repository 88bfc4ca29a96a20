// The events about new and changed products.
import type { Transaction } from '@shop/shared/database';
import { appendEvents, type EventPayloads } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import type { MovementCause } from '../stock/stock-ledger.ts';
import { type WrittenRow, writtenColumns, writtenLines } from './product-columns.ts';
import { toInput } from './product-input.ts';

/** A product that was added or changed in the present transaction. */
export interface WrittenProduct {
  readonly productId: string;
  /** The version after the change. */
  readonly version: number;
  readonly row: WrittenRow;
  readonly inStock: boolean;
}

/** Returns whether a member of the product changed, and not only its stock. */
export function changesProduct(before: WrittenRow, after: WrittenRow): boolean {
  return writtenColumns.some((column) => column !== 'stock' && before[column] !== after[column]);
}

/** Appends one event for each product, in one statement. */
export async function appendProductEvents(
  tx: Transaction,
  type: 'product.created.v1' | 'product.updated.v1',
  products: readonly WrittenProduct[],
  currency: string,
  { requestId = newId(), traceparent }: MovementCause,
): Promise<void> {
  if (products.length === 0) return;
  const events = products.map((product) => ({
    type,
    subject: product.productId,
    sequence: product.version,
    requestId,
    traceparent,
    data: dataOf(product, currency),
  }));
  await appendEvents(tx, events);
}

const eventLines = writtenLines.filter(({ inEvents }) => inEvents !== false);

function dataOf({ productId, row, inStock }: WrittenProduct, currency: string): EventPayloads['product.created.v1'] {
  return { productId, ...toInput(row, currency, eventLines), currency, status: row.status, inStock };
}
