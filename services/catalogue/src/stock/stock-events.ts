// The events about the stock of products: whether units are available, and whether few are left.
import type { Transaction } from '@shop/shared/database';
import type { WrittenRow } from '../product/product-columns.ts';
import { appendProductEvents, type ProductEvent } from '../product/product-events.ts';
import type { MovementCause } from './stock-ledger.ts';

/** The figures that determine the available units of a product, and its threshold. */
export interface Availability {
  /** Units on hand. */
  readonly stock: number;
  /** Units of orders that have not shipped, whether on hand or not. */
  readonly promised: number;
  /** The number of available units at or below which the stock is low; null when it never is. */
  readonly threshold: number | null;
}

/** A product after a change, in the transaction that changed and locked it. */
export interface MovedStock extends Availability {
  readonly productId: string;
  readonly name: string;
  /** The version after the change. */
  readonly version: number;
}

export interface ChangedStock extends MovedStock {
  /** The previous values of the figures that the change modified. */
  readonly before: Partial<Availability>;
}

/** Returns the change of a product after its row was written, with the promised units before and after. */
export function toStockChange(
  productId: string,
  version: number,
  before: WrittenRow & { readonly promised: number },
  { name, stock, low_stock_threshold: threshold }: WrittenRow,
): ChangedStock {
  const figures = { stock: before.stock, threshold: before.low_stock_threshold };
  return { productId, name, version, stock, promised: before.promised, threshold, before: figures };
}

/** Returns the units on hand that no order has reserved. */
function availableOf({ stock, promised }: Availability): number {
  return Math.max(stock - promised, 0);
}

function isLow(figures: Availability): boolean {
  return figures.threshold !== null && availableOf(figures) <= figures.threshold;
}

/**
 * Returns `stock.changed.v1` for a product that became available or unavailable, and `stock.low.v1` for a stock that
 * became low. Usually a change has neither.
 */
export function toStockEvents(change: ChangedStock): ProductEvent[] {
  const { productId, name, threshold } = change;
  const before = { ...change, ...change.before };
  const available = availableOf(change);
  const inStock = available > 0;
  const turned = inStock !== availableOf(before) > 0;
  const fell = threshold !== null && isLow(change) && !isLow(before);
  return [
    ...(turned ? [{ type: 'stock.changed.v1' as const, data: { productId, inStock } }] : []),
    ...(fell
      ? [{ type: 'stock.low.v1' as const, data: { productId, name, available, lowStockThreshold: threshold } }]
      : []),
  ];
}

/** Appends the events of products of which only the stock changed. */
export function appendStockEvents(
  tx: Transaction,
  changes: readonly ChangedStock[],
  cause: MovementCause,
): Promise<void> {
  return appendProductEvents(
    tx,
    changes.map((change) => ({ ...change, events: toStockEvents(change) })),
    cause,
  );
}
