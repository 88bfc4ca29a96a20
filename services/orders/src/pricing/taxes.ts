// Which tax rates apply to an order, and what they amount to.
import { type Destination, plainRegion } from './destination.ts';
import type { PricingInput, PricingSettings, TaxRate } from './pricing.ts';
import { apportion, roundedQuotient, scaled, sum } from './shares.ts';

/** What a line or shipping costs after discounts. */
export interface Taxable {
  readonly category: string;
  readonly amount: bigint;
}

/** The rates of an order, and of each taxable the index of its rate and its tax. */
export interface Taxes {
  readonly rates: readonly { readonly name: string; readonly rate: string }[];
  readonly shares: readonly { readonly rate?: number; readonly tax: bigint }[];
}

/** 100 % in the unit of a rate, which has up to 4 decimals. */
const hundredPercent = 1_000_000n;

/**
 * Returns the taxes of an order. The tax of a rate is rounded once, on the sum of its taxables, half away from zero.
 * The taxables share it by largest remainder. Rates with the same name and percentage count as one.
 *
 * A customer who is exempt pays no tax, and no rate is named. When prices contain the tax, their tax is what the price
 * falls by: under the reverse charge the taxable amount is the price without VAT (Directive 2006/112/EC, articles 73
 * and 78 point (a)). It is the tax that others would pay for the same address, and rounded the same, so both prices
 * differ by it.
 */
export function taxesOf(
  taxables: readonly Taxable[],
  { at, isTaxExempt }: PricingInput,
  settings: PricingSettings,
  destination: Destination,
): Taxes {
  if (settings.taxes === 'off' || (isTaxExempt && settings.taxes === 'added')) return untaxed(taxables);
  const found = taxables.map(({ category }) => rateOf(category, at, settings.taxRates, destination));
  const rates = found
    .filter((rate) => rate !== undefined)
    .filter((rate, index, all) => all.findIndex((other) => isSame(other, rate)) === index);
  const indexes = found.map((rate) => rate && rates.findIndex((other) => isSame(other, rate)));
  const shares = rates.map(({ rate }, index) => {
    const amounts = taxables.map(({ amount }, taxable) => (indexes[taxable] === index ? amount : 0n));
    const percent = scaled(rate, 4);
    const whole = settings.taxes === 'included' ? hundredPercent + percent : hundredPercent;
    return apportion(roundedQuotient(sum(amounts) * percent, whole), amounts);
  });
  const taxes = taxables.map((_, taxable) => sum(shares.map((of) => of[taxable] ?? 0n)));
  if (isTaxExempt) return { rates: [], shares: taxes.map((tax) => ({ tax })) };
  return {
    rates: rates.map(({ name, rate }) => ({ name, rate })),
    shares: taxes.map((tax, taxable) => {
      const rate = indexes[taxable];
      return rate === undefined ? { tax } : { rate, tax };
    }),
  };
}

/**
 * Returns whether a customer with a tax id of this country owes the tax instead of the shop. The tax id and the place
 * of delivery are both of another country than the shop, as for supplies of goods within the EU (Directive
 * 2006/112/EC, article 138(1)). These two countries may differ.
 */
export function isReverseCharge(country: string, destination: Destination, settings: PricingSettings): boolean {
  return ![country, destination.country].includes(settings.country);
}

function untaxed(taxables: readonly Taxable[]): Taxes {
  return { rates: [], shares: taxables.map(() => ({ tax: 0n })) };
}

/**
 * Returns the rate of a category: one of the region before one of the country, of those that have begun the one that
 * began last. Undefined when none applies.
 */
function rateOf(category: string, at: Date, rates: readonly TaxRate[], { country, region }: Destination) {
  const begun = rates
    .filter((rate) => rate.country === country && rate.category === category && beginOf(rate) <= at.getTime())
    .sort((one, other) => beginOf(other) - beginOf(one) || 0);
  const ofRegion = begun.find((rate) => rate.region !== undefined && plainRegion(rate.region) === region);
  return ofRegion ?? begun.find((rate) => rate.region === undefined);
}

function beginOf({ from }: TaxRate): number {
  return from?.getTime() ?? -Infinity;
}

function isSame(one: TaxRate, other: TaxRate): boolean {
  return one === other || (one.name === other.name && scaled(one.rate, 4) === scaled(other.rate, 4));
}
