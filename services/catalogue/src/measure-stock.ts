// What is counted of stock: the units of every movement, by its kind.
import type { Transaction } from '@shop/shared/database';
import { beginCounting, instruments } from '@shop/shared/telemetry';

const kinds = ['received', 'missing', 'reserved', 'released', 'shipped'] as const;

/** As in the book of stock; `missing` is what a count found to be less than the book said. */
export type MovementKind = (typeof kinds)[number];

export function beginCountingStock(): void {
  beginCounting(
    instruments.stockMovements,
    kinds.map((kind) => ({ 'shop.kind': kind })),
  );
}

/** Counts units once the transaction of their movement has committed. */
export function countStock(tx: Transaction, kind: MovementKind, lines: readonly { readonly quantity: number }[]): void {
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0);
  tx.afterCommit(() => instruments.stockMovements.add(units, { 'shop.kind': kind }));
}
