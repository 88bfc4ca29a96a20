// The reference of what an order costs: discounts of the lines, then shipping, then taxes.
import { type Destination, destinationOf } from './destination.ts';
import { combinations, discountShares, linePrices, unmetCondition } from './discounts.ts';
import type {
  Discount,
  PricedOrder,
  Pricing,
  PricingFault,
  PricingInput,
  PricingSettings,
  ShippingMethod,
} from './pricing.ts';
import { sum } from './shares.ts';
import { cheapestMethod, type Delivery, deliveryOf } from './shipping.ts';
import { taxesOf } from './taxes.ts';

/** The largest amount of an order in minor units, within the safe integers. */
const maximumAmount = 999_999_999_999_999n;

/** An order with what does not depend on its discounts. */
interface Order {
  readonly input: PricingInput;
  readonly settings: PricingSettings;
  readonly destination: Destination;
  readonly delivery: Delivery;
}

/** An order with one combination of discounts. */
interface Candidate {
  readonly pricing: Pricing;
  /** What the customer pays. */
  readonly total: bigint;
  /** The same before discounts. No other amount is larger. */
  readonly largest: bigint;
  /** Of candidates with equal totals the one with the first text is used. */
  readonly rank: string;
}

/**
 * Returns what an order costs, and everything that prevents it from being placed.
 *
 * Combination of discounts: all combinable ones that apply are used together, or one alone, or none, whichever costs
 * the customer least, shipping and taxes included. Of equal totals the one with the given code is used, then the one
 * with the oldest id. A discount that takes nothing is left out. So `pricing.discounts` lacks the given one when others
 * save more.
 */
export function priceOrder(input: PricingInput, settings: PricingSettings): PricedOrder {
  const destination = destinationOf(input, settings);
  const delivery = deliveryOf(input, settings, destination);
  const order = { input, settings, destination, delivery };
  const faults: PricingFault[] = delivery.fault ? [delivery.fault] : [];
  const unmet = input.discount && unmetCondition(input.discount, input);
  if (unmet) faults.push(unmet);
  const discounts = [...settings.discounts, ...(input.discount ? [input.discount] : [])];
  const applicable = discounts.filter((discount) => !unmetCondition(discount, input));
  const [best] = combinations(applicable)
    .map((combination) => priceWith(combination, order))
    .sort(
      (one, other) => Number(one.total - other.total) || (one.rank < other.rank ? -1 : Number(one.rank > other.rank)),
    );
  if (best && best.largest <= maximumAmount) return { pricing: best.pricing, faults };
  return { faults: [...faults, { kind: 'total-too-large' }] };
}

function priceWith(discounts: readonly Discount[], { input, settings, destination, delivery }: Order): Candidate {
  const { lines, isTaxExempt } = input;
  const prices = linePrices(lines);
  const shares = discountShares(lines, discounts);
  const amounts = prices.map((price, line) => price - sum(shares.map((of) => of[line] ?? 0n)));
  const shipping = cheapestMethod(delivery, sum(amounts));
  const freeShipping = discounts.find(({ kind }) => kind === 'free-shipping');
  const used = discounts
    .map((discount, index) => {
      const ofShipping = shipping && discount === freeShipping ? shipping.price : 0n;
      return { discount, shares: [...(shares[index] ?? []), ofShipping] };
    })
    .filter((use) => sum(use.shares) > 0n);

  const taxables = lines.map(({ taxCategory: category }, line) => ({ category, amount: amounts[line] ?? 0n }));
  if (shipping) taxables.push({ category: shipping.method.taxCategory, amount: freeShipping ? 0n : shipping.price });
  const taxes = taxesOf(taxables, input, settings, destination);
  const sharesOf = (index: number) => {
    const { rate, tax = 0n } = taxes.shares[index] ?? {};
    const discountsMinor = used.map((use) => Number(use.shares[index] ?? 0n));
    return { discountsMinor, ...(rate !== undefined && { rate }), taxMinor: Number(tax) };
  };

  const pricing: Pricing = {
    version: settings.version,
    taxes: settings.taxes,
    ...(isTaxExempt && settings.taxes !== 'off' && { isTaxExempt }),
    discounts: used.map(({ discount: { id, name, code } }) => ({ id, name, ...(code !== undefined && { code }) })),
    rates: taxes.rates,
    lines: lines.map(({ unitPriceMinor, quantity, shipped }, line) => {
      return { unitPriceMinor, quantity, shipped, ...sharesOf(line) };
    }),
    ...(shipping && {
      shipping: { ...presentMethod(shipping.method), priceMinor: Number(shipping.price), ...sharesOf(lines.length) },
    }),
  };
  const tax = sum(taxes.shares.map((share) => share.tax));
  const added = settings.taxes === 'added' ? tax : 0n;
  const exempted = settings.taxes === 'included' && isTaxExempt ? tax : 0n;
  return {
    pricing,
    total: sum(taxables.map(({ amount }) => amount)) + added - exempted,
    largest: sum(prices) + (shipping?.price ?? 0n) + added,
    rank: rankOf(pricing, input.discount),
  };
}

function presentMethod({ id, name, days }: ShippingMethod) {
  return { methodId: id, name, ...(days && { days }) };
}

function rankOf({ discounts }: Pricing, given: Discount | undefined): string {
  const ids = discounts.map(({ id }) => id).sort();
  return `${given && ids.includes(given.id) ? 'given' : 'other'} ${ids[0] ?? '~'}`;
}
