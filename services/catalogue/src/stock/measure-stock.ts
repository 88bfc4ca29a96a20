// The metric of stock: the units of every movement, by kind.
import type { Transaction } from '@shop/shared/database';
import { beginCounting, instruments } from '@shop/shared/telemetry';

const kinds = ['received', 'missing', 'reserved', 'released', 'shipped'] as const;

/** The kinds of movements in the stock ledger. `missing` are units in the ledger that a stock count did not find. */
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
