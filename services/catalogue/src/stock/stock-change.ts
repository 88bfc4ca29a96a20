// A change of a product's stock that staff requests: a count, an adjustment, or the deprecated plain number.
import { Problem } from '@shop/shared/problem';
import type { components } from '../generated.ts';
import type { Received } from './stock-ledger.ts';

export type StockChange = NonNullable<components['schemas']['ProductPatch']['stock']>;

/** The figures of a locked product. */
export interface StockFigures {
  /** Units on hand. */
  readonly stock: number;
  /** Units on hand that orders have reserved. */
  readonly reserved: number;
}

/** The largest number of units on hand. */
export const maximumStock = 1_000_000_000;

/**
 * Returns the units on hand after the change, and the entry for the ledger.
 * @throws Problem 409 `stock-changed` when the units on hand are not those that a count expects; 409
 * `insufficient-stock` when fewer units would be on hand than are reserved; 400 when the units would exceed the maximum
 */
export function applyStockChange(
  present: StockFigures,
  change: StockChange,
): { readonly stock: number; readonly entry: Omit<Received, 'productId'> } {
  const { stock, pointer, entry } = readChange(present, change);
  if (stock < present.reserved) {
    const detail = 'leaves fewer units on hand than are promised to orders that have not shipped';
    throw new Problem('insufficient-stock', 'Orders were promised more than this stock. Nothing was changed.', {
      errors: [{ pointer, detail }],
    });
  }
  if (stock > maximumStock) {
    const detail = `leaves more than ${maximumStock} units on hand`;
    throw new Problem('invalid-request', `The change ${detail}.`, { errors: [{ pointer, detail }] });
  }
  return { stock, entry: { ...entry, quantity: stock - present.stock } };
}

function readChange(
  { stock: onHand }: StockFigures,
  change: StockChange,
): { readonly stock: number; readonly pointer: string; readonly entry: Omit<Received, 'productId' | 'quantity'> } {
  if (typeof change === 'number') return { stock: change, pointer: '/stock', entry: { counted: change } };
  if ('adjust' in change) {
    return { stock: onHand + change.adjust, pointer: '/stock/adjust', entry: { reason: change.reason } };
  }
  const { set, expected, reason } = change;
  if (expected !== onHand) {
    throw new Problem('stock-changed', 'The stock has changed since it was read. Nothing was changed.', {
      errors: [{ pointer: '/stock/expected', detail: `is ${expected}, but ${onHand} units are on hand`, onHand }],
    });
  }
  return { stock: set, pointer: '/stock/set', entry: { reason, counted: set, expected } };
}
