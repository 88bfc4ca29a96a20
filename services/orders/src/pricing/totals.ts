// The amounts of an order, or of what is left of it after cancellations and returns.
import type { Amounts, Pricing, Totals } from './pricing.ts';
import { remainingPart, sum } from './shares.ts';

/** What is left of the amounts of a line or of shipping. */
interface Remainder {
  readonly rate?: number;
  readonly price: bigint;
  readonly discounts: readonly bigint[];
  /** The price less the discounts. */
  readonly amount: bigint;
  readonly tax: bigint;
}

/**
 * Returns the amounts of an order after `gone[i]` units of line i were cancelled or returned, at most its quantity.
 * The refund of a cancellation or return is the total before it less the total after it.
 *
 * Each discount falls with the price that it was taken from, and the tax with the discounted amount, rounded half away
 * from zero (`remainingPart`). So any split of the units, in any order, gives back exactly what was paid, and no
 * refund, nor its tax, its base or a discount in it, is negative. Shipping falls to nothing with the last unit that is
 * sent, unless `keepShipping` is set.
 */
export function remainingTotals(
  pricing: Pricing,
  gone: readonly number[] = [],
  { keepShipping = false }: { readonly keepShipping?: boolean } = {},
): Totals {
  const quantities = pricing.lines.map(({ quantity }, index) => quantity - (gone[index] ?? 0));
  const lines = pricing.lines.map((line, index) => {
    const unitPrice = BigInt(line.unitPriceMinor);
    return remainderOf(line, unitPrice * BigInt(line.quantity), unitPrice * BigInt(quantities[index] ?? 0));
  });
  const isSent = pricing.lines.some(({ shipped }, index) => shipped && quantities[index] !== 0);
  const price = BigInt(pricing.shipping?.priceMinor ?? 0);
  const shipping = pricing.shipping && (isSent || keepShipping) ? [remainderOf(pricing.shipping, price, price)] : [];

  const parts = [...lines, ...shipping];
  const [shippingAmounts] = shipping.map((part) => present(part, pricing));
  const included = pricing.taxes === 'included';
  return {
    lines: lines.map((line, index) => ({ quantity: quantities[index] ?? 0, ...present(line, pricing) })),
    ...(shippingAmounts && { shipping: shippingAmounts }),
    discountsMinor: pricing.discounts.map((_, index) =>
      Number(sum(parts.map(({ discounts }) => discounts[index] ?? 0n))),
    ),
    taxes: pricing.rates.map((_, index) => {
      const taxed = parts.filter(({ rate }) => rate === index);
      const tax = sum(taxed.map((part) => part.tax));
      const amount = sum(taxed.map((part) => part.amount));
      return { baseMinor: Number(included ? amount - tax : amount), amountMinor: Number(tax) };
    }),
    exemptionMinor: pricing.isTaxExempt ? Number(sum(parts.map(({ tax }) => tax))) : 0,
    totalMinor: Number(sum(parts.map((part) => totalOf(part, pricing)))),
  };
}

/** Returns the pricing of an order without shipping, discounts and taxes, for the lines as they were ordered. */
export function plainPricing(
  lines: readonly {
    readonly unitPriceMinor: number;
    readonly quantity: number;
    readonly cancelledQuantity: number;
  }[],
): Pricing {
  return {
    version: 0,
    taxes: 'off',
    discounts: [],
    rates: [],
    lines: lines.map(({ unitPriceMinor, quantity, cancelledQuantity }) => ({
      unitPriceMinor,
      quantity: quantity + cancelledQuantity,
      shipped: true,
      discountsMinor: [],
      taxMinor: 0,
    })),
  };
}

function remainderOf(
  { discountsMinor, taxMinor, rate }: { discountsMinor: readonly number[]; taxMinor: number; rate?: number },
  priceBefore: bigint,
  price: bigint,
): Remainder {
  let [before, amount] = [priceBefore, price];
  const discounts = discountsMinor.map((minor) => {
    const discount = remainingPart(BigInt(minor), before, amount);
    before -= BigInt(minor);
    amount -= discount;
    return discount;
  });
  const tax = remainingPart(BigInt(taxMinor), before, amount);
  return { ...(rate !== undefined && { rate }), price, discounts, amount, tax };
}

function present(part: Remainder, pricing: Pricing): Amounts {
  return {
    priceMinor: Number(part.price),
    discountMinor: Number(sum(part.discounts)),
    taxMinor: pricing.isTaxExempt ? 0 : Number(part.tax),
    totalMinor: Number(totalOf(part, pricing)),
  };
}

/** Returns what the customer pays. A tax in the price is part of the amount; an exempt customer does not pay it. */
function totalOf({ amount, tax }: Remainder, { taxes, isTaxExempt }: Pricing): bigint {
  if (taxes === 'added') return amount + tax;
  return isTaxExempt ? amount - tax : amount;
}
