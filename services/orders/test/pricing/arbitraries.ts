// Random orders and settings for the properties of prices.
import fc from 'fast-check';
import type {
  Discount,
  PricingInput,
  PricingLine,
  PricingSettings,
  ShippingMethod,
  TaxRate,
} from '../../src/pricing/pricing.ts';

export interface PricedCase {
  readonly input: PricingInput;
  readonly settings: PricingSettings;
}

const categories = ['standard', 'reduced', 'special', 'unknown'];
const brands = ['Acme', 'Other'];

/**
 * The largest unit price of an order: a few of the smallest unit, ordinary prices, and prices near the largest total.
 */
const scale = fc.constantFrom(3, 100, 10_000, 1_000_000_000, 30_000_000_000_000);
const percent = (most: number, digits: number) =>
  fc.integer({ min: 0, max: most * 10 ** digits }).map((value) => (value / 10 ** digits).toFixed(digits));

const line = (most: number): fc.Arbitrary<Omit<PricingLine, 'productId'>> =>
  fc.record({
    quantity: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 12 })),
    unitPriceMinor: fc.integer({ min: 0, max: most }),
    taxCategory: fc.constantFrom(...categories),
    weightGrams: fc.nat(5_000),
    shipped: fc.boolean(),
    brand: fc.constantFrom(...brands),
    category: fc.constantFrom(...categories),
  });

const method = (most: number): fc.Arbitrary<Omit<ShippingMethod, 'id' | 'position'>> =>
  fc.record(
    {
      name: fc.constant({ en: 'Parcel' }),
      priceMinor: fc.nat(most),
      taxCategory: fc.constantFrom(...categories),
      freeFromMinor: fc.nat(most * 4),
      pricePerKilogramMinor: fc.nat(most),
      maximumWeightGrams: fc.integer({ min: 20_000, max: 80_000 }),
    },
    { requiredKeys: ['name', 'priceMinor', 'taxCategory'] },
  );

const discount = (most: number): fc.Arbitrary<Omit<Discount, 'id' | 'name'>> =>
  fc
    .record({
      kind: fc.constantFrom('percent' as const, 'amount' as const, 'free-shipping' as const),
      percent: percent(100, 2),
      amountMinor: fc.nat(most * 4),
      minimumMinor: fc.oneof(fc.constant(0), fc.nat(most * 4)),
      brands: fc.option(fc.subarray(brands, { minLength: 1 }), { nil: undefined }),
      combinable: fc.boolean(),
    })
    .map(({ kind, percent: value, amountMinor, minimumMinor, brands: matching, combinable }) => ({
      kind,
      ...(kind === 'percent' && { percent: value }),
      ...(kind === 'amount' && { amountMinor }),
      minimumMinor,
      ...(matching && { appliesTo: { brands: matching } }),
      combinable,
    }));

const rates: fc.Arbitrary<readonly TaxRate[]> = fc
  .tuple(percent(30, 0), percent(30, 1), percent(120, 4))
  .map((all) =>
    all.map((rate, index) => ({ id: `t${index}`, country: 'CH', category: `${categories[index]}`, rate, name: 'VAT' })),
  );

export const pricedCase: fc.Arbitrary<PricedCase> = scale.chain((most) =>
  fc
    .record({
      lines: fc.array(line(most), { minLength: 1, maxLength: 5 }),
      methods: fc.array(method(most), { maxLength: 3 }),
      discounts: fc.array(discount(most), { maxLength: 4 }),
      given: fc.option(discount(most), { nil: undefined }),
      taxes: fc.constantFrom('off' as const, 'included' as const, 'added' as const),
      taxRates: rates,
      isTaxExempt: fc.boolean(),
    })
    .map(({ lines, methods, discounts, given, taxes, taxRates, isTaxExempt }): PricedCase => {
      return {
        input: {
          lines: lines.map((each, index) => ({ ...each, productId: `p${index}` })),
          ...(given && { discount: { ...given, id: 'd8', name: 'Given', code: 'GIVEN' } }),
          isTaxExempt,
          at: new Date('2026-01-01'),
        },
        settings: {
          version: 1,
          taxes,
          country: 'CH',
          shippingMethods: methods.map((each, index) => ({ ...each, id: `m${index}`, position: 1 })),
          taxRates,
          discounts: discounts.map((each, index) => ({ ...each, id: `d${index}`, name: `Discount ${index}` })),
        },
      };
    }),
);
