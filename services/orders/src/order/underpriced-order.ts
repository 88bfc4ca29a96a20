// Reports orders at prices that may be wrong or fraudulent: those that cost nothing, or far less than usual.
import type { Transaction } from '@shop/shared/database';
import type { Log } from '@shop/shared/runtime';
import { countUnderpriced } from './measure-orders.ts';
import type { ReservedLine } from './stock-reservation.ts';

/** A line is reported when it costs less than this fraction of its usual price. */
const usualShare = 0.5;

/** Counts and logs the order once its transaction has committed. docs/runbooks/orders-underpriced.md reads the log. */
export function reportUnderpriced(
  tx: Transaction,
  log: Log,
  id: string,
  { lines, totalMinor }: { readonly lines: readonly ReservedLine[]; readonly totalMinor: number },
): void {
  const below = lines.filter((line) => line.unitPriceMinor < (line.usualPriceMinor ?? 0) * usualShare);
  if (below.length === 0 && totalMinor > 0) return;
  countUnderpriced(tx, totalMinor === 0 ? 'free' : 'below-usual');
  const products = below.map(({ productId, unitPriceMinor, usualPriceMinor }) => {
    return { productId, unitPriceMinor, usualPriceMinor };
  });
  tx.afterCommit(() => log.warn({ order: id, products }, 'an order costs nothing, or far less than usual'));
}
