// The events about products. Each event of a change has a version of its own, which the trigger `products_version` gives.
import type { Transaction } from '@shop/shared/database';
import { appendEvents, type EventPayloads, type EventType, type NewEvent } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import type { MovementCause } from '../stock/stock-ledger.ts';
import { type WrittenRow, writtenColumns, writtenLines } from './product-columns.ts';
import { toInput } from './product-input.ts';

export type ProductEvent = Pick<NewEvent<EventType>, 'type' | 'data'>;

/** A change of a product in the present transaction. */
export interface ProductChange {
  readonly productId: string;
  /** The version after the change, which is that of the last event. */
  readonly version: number;
  readonly events: readonly ProductEvent[];
}

/** Returns whether a member of the product changed, and not only its stock. */
export function changesProduct(before: WrittenRow, after: WrittenRow): boolean {
  return writtenColumns.some((column) => column !== 'stock' && before[column] !== after[column]);
}

/** Appends the events of all changes in one statement. Without an event, no statement runs. */
export async function appendProductEvents(
  tx: Transaction,
  changes: readonly ProductChange[],
  { requestId = newId(), traceparent }: MovementCause,
): Promise<void> {
  const events = changes.flatMap(({ productId, version, events: ofChange }) =>
    ofChange.map((event, index) => {
      const sequence = version - ofChange.length + 1 + index;
      return { ...event, subject: productId, sequence, requestId, traceparent };
    }),
  );
  if (events.length > 0) await appendEvents(tx, events);
}

const eventLines = writtenLines.filter(({ inEvents }) => inEvents !== false);

/** Returns the event about the members of a product that was added or changed. */
export function toProductEvent(
  type: 'product.created.v1' | 'product.updated.v1',
  productId: string,
  row: WrittenRow,
  inStock: boolean,
  currency: string,
): ProductEvent {
  const data: EventPayloads[typeof type] = {
    productId,
    ...toInput(row, currency, eventLines),
    currency,
    status: row.status,
    inStock,
  };
  return { type, data };
}
