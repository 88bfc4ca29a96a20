// The amounts of an order for the units that are left of it.
import type { Totals } from '../pricing/pricing.ts';
import { plainPricing, remainingTotals } from '../pricing/totals.ts';
import type { LockedOrder } from './order.ts';
import type { OrderLine } from './order-lines.ts';
import type { ShownOrder } from './order-prices.ts';

/** Returns the amounts for the units that were not cancelled, and what shows them; also of an order without a pricing. */
export function totalsOfOrder(
  { pricing }: Pick<LockedOrder, 'pricing'>,
  lines: readonly OrderLine[],
): { readonly totals: Totals; readonly priced: ShownOrder['priced'] } {
  const gone = lines.map(({ cancelledQuantity }) => cancelledQuantity);
  const totals = remainingTotals(pricing ?? plainPricing(lines), gone);
  return { totals, priced: pricing === null ? undefined : { pricing, totals } };
}

/**
 * Returns the amounts for the units that were neither cancelled nor returned.
 * @param keepShipping whether the price of shipping is kept when everything that was sent comes back
 */
export function totalsAfterReturns(
  { pricing }: Pick<LockedOrder, 'pricing'>,
  lines: readonly OrderLine[],
  keepShipping: boolean,
): Totals {
  const gone = lines.map(({ cancelledQuantity, returnedQuantity }) => cancelledQuantity + returnedQuantity);
  return remainingTotals(pricing ?? plainPricing(lines), gone, { keepShipping });
}
