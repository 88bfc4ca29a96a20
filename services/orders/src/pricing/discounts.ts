// Which discounts apply to an order, and what they take from its lines.
import type { Discount, DiscountNotApplicable, PricingInput, PricingLine } from './pricing.ts';
import { apportion, roundedQuotient, scaled, sum } from './shares.ts';

/** Returns the prices of the lines before discounts. */
export function linePrices(lines: readonly PricingLine[]): bigint[] {
  return lines.map(({ unitPriceMinor, quantity }) => BigInt(unitPriceMinor) * BigInt(quantity));
}

/**
 * Returns why a discount does not apply to an order; undefined when it applies. Its period includes `from`, not
 * `until`.
 */
export function unmetCondition(discount: Discount, { lines, at }: PricingInput): DiscountNotApplicable | undefined {
  const kind = 'discount-not-applicable';
  const { from, until, minimumMinor = 0 } = discount;
  if (from && at < from) return { kind, reason: 'not-begun', from };
  if (until && at >= until) return { kind, reason: 'ended', until };
  if (!lines.some((line) => appliesTo(discount, line))) return { kind, reason: 'other-products' };
  const missing = BigInt(minimumMinor) - sum(linePrices(lines));
  return missing > 0n ? { kind, reason: 'minimum', minimumMinor, missingMinor: Number(missing) } : undefined;
}

/**
 * Returns the sets of discounts that may be used together, in the order in which they are applied: all combinable ones,
 * each discount alone, and none. Percentages are applied first, then amounts, then free shipping, and the oldest id
 * first.
 */
export function combinations(discounts: readonly Discount[]): Discount[][] {
  const kinds = ['percent', 'amount', 'free-shipping'];
  const ordered = discounts.toSorted(
    (one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind) || (one.id < other.id ? -1 : 1),
  );
  const together = ordered.filter(({ combinable }) => combinable);
  return [...(together.length > 1 ? [together] : []), ...ordered.map((discount) => [discount]), []];
}

/**
 * Returns what each discount takes from each line. A percentage is of the prices before discounts and is rounded once,
 * half away from zero. A discount takes at most what the ones before it left of its lines, and is shared in proportion
 * to that.
 */
export function discountShares(lines: readonly PricingLine[], discounts: readonly Discount[]): bigint[][] {
  const prices = linePrices(lines);
  let rest = prices;
  return discounts.map((discount) => {
    const matches = lines.map((line) => appliesTo(discount, line));
    const left = rest.map((amount, index) => (matches[index] ? amount : 0n));
    const value = fullValue(discount, sum(prices.filter((_, index) => matches[index])));
    const most = sum(left);
    const shares = apportion(value - most > 0n ? most : value, left);
    rest = rest.map((amount, index) => amount - (shares[index] ?? 0n));
    return shares;
  });
}

function fullValue({ kind, percent = '0', amountMinor = 0 }: Discount, price: bigint): bigint {
  if (kind === 'percent') return roundedQuotient(price * scaled(percent, 2), 10_000n);
  return kind === 'amount' ? BigInt(amountMinor) : 0n;
}

function appliesTo({ appliesTo }: Discount, { productId, brand, category, group }: PricingLine): boolean {
  if (!appliesTo) return true;
  const { productIds = [], brands = [], categories = [], groups = [] } = appliesTo;
  if (productIds.includes(productId) || brands.includes(brand) || categories.includes(category)) return true;
  return group !== undefined && groups.includes(group);
}
