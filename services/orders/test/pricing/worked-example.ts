// How an example of the table is written, in units of its currency, and what it means to the calculation.
import type { Discount, PricingInput, PricingSettings } from '../../src/pricing/pricing.ts';

export interface WorkedExample {
  readonly title: string;
  /** The page that publishes the figures. "by hand" and a rule: figures of our own. */
  readonly source: string;
  /** The decimals of the currency; 2 without it. */
  readonly decimals?: number;
  /** Without it, no taxes. */
  readonly taxes?: 'included' | 'added';
  readonly rates?: readonly { readonly rate: string; readonly category?: string; readonly from?: string }[];
  readonly isTaxExempt?: true;
  readonly at?: string;
  readonly lines: readonly {
    readonly price: string;
    readonly quantity?: number;
    readonly category?: string;
    readonly grams?: number;
    readonly isService?: true;
  }[];
  readonly shipping?: {
    readonly price: string;
    readonly freeFrom?: string;
    readonly perKilogram?: string;
    readonly category?: string;
  };
  /** In the order of their ids. */
  readonly discounts?: readonly {
    readonly percent?: string;
    readonly amount?: string;
    readonly isFreeShipping?: true;
    /** The indexes of the lines that it applies to. */
    readonly lines?: readonly number[];
    readonly isAlone?: true;
  }[];
  readonly expected: {
    /** Such as "discount 20.00, tax 5.80, total 85.80", without what is 0. */
    readonly lines: readonly string[];
    readonly shipping?: string;
    /**
     * The ids of the discounts that are used, in the order in which they are applied: d0 is the first of `discounts`.
     */
    readonly discounts?: readonly string[];
    /** Such as "20 % of 100.00: 20.00", where 100.00 is the amount without the tax. */
    readonly taxes?: readonly string[];
    readonly exemption?: string;
    readonly total: string;
  };
  /** Units that are returned one step after the other, and what is paid back. */
  readonly refunds?: readonly { readonly gone: readonly number[]; readonly refund: string }[];
}

export function inputOf(example: WorkedExample): { input: PricingInput; settings: PricingSettings } {
  const inMinor = (amount: string) => Math.round(Number(amount) * 10 ** (example.decimals ?? 2));
  const lines = example.lines.map((line, index) => ({
    productId: `p${index}`,
    quantity: line.quantity ?? 1,
    unitPriceMinor: inMinor(line.price),
    taxCategory: line.category ?? 'standard',
    ...(line.grams !== undefined && { weightGrams: line.grams }),
    shipped: !line.isService,
    brand: 'Acme',
    category: 'Things',
  }));
  const taxRates = (example.rates ?? []).map(({ rate, category = 'standard', from }, index) => {
    return { id: `t${index}`, country: 'CH', category, rate, name: 'VAT', ...(from && { from: new Date(from) }) };
  });
  const discounts = (example.discounts ?? []).map((discount, index): Discount => {
    const { percent, amount, lines: indexes, isAlone } = discount;
    return {
      id: `d${index}`,
      name: `Discount ${index}`,
      kind: percent ? 'percent' : amount ? 'amount' : 'free-shipping',
      ...(percent && { percent }),
      ...(amount && { amountMinor: inMinor(amount) }),
      ...(indexes && { appliesTo: { productIds: indexes.map((line) => `p${line}`) } }),
      combinable: !isAlone,
    };
  });
  const { price = '0', freeFrom, perKilogram, category } = example.shipping ?? {};
  const method = {
    id: 'm0',
    name: { en: 'Parcel' },
    priceMinor: inMinor(price),
    ...(freeFrom && { freeFromMinor: inMinor(freeFrom) }),
    ...(perKilogram && { pricePerKilogramMinor: inMinor(perKilogram) }),
    taxCategory: category ?? 'standard',
    position: 1,
  };
  return {
    input: {
      lines,
      at: new Date(example.at ?? '2026-01-01'),
      ...(example.isTaxExempt && { isTaxExempt: example.isTaxExempt }),
    },
    settings: {
      version: 1,
      taxes: example.taxes ?? 'off',
      country: 'CH',
      shippingMethods: example.shipping ? [method] : [],
      taxRates,
      discounts,
    },
  };
}
