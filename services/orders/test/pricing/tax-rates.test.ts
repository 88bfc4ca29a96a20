// Which tax rates apply to an order.
import { describe, expect, it } from '@jest/globals';
import type { PricingInput, TaxRate } from '../../src/pricing/pricing.ts';
import { isReverseCharge } from '../../src/pricing/taxes.ts';
import { line, price, rate } from './builders.ts';

describe('tax rates', () => {
  const rateOf = (taxRates: TaxRate[], input: Partial<PricingInput> = {}) => {
    const { pricing } = price(input, { taxes: 'added', taxRates });
    return pricing?.rates.map((each) => each.rate);
  };

  it('the rate of the region applies before the one of the country, in any case and with blanks around', () => {
    const rates = [rate('5', { country: 'CA' }), rate('13', { country: 'CA', region: 'Ontario' })];
    expect(rateOf(rates, { address: { country: 'CA', region: ' ONTARIO ' } })).toEqual(['13']);
    expect(rateOf(rates, { address: { country: 'CA', region: 'Quebec' } })).toEqual(['5']);
    expect(rateOf(rates, { address: { country: 'CA' } })).toEqual(['5']);
  });

  it('a rate of a region that has not begun leaves the one of the country, and an older rate of the region applies before it', () => {
    const from = new Date('2027-01-01');
    const later = rate('15', { country: 'CA', region: 'ON', from });
    const country = rate('5', { country: 'CA', from: new Date('2026-01-01') });
    const address = { country: 'CA', region: 'ON' };
    expect(rateOf([later, country], { address })).toEqual(['5']);
    expect(rateOf([later, country, rate('13', { country: 'CA', region: 'ON' })], { address })).toEqual(['13']);
    expect(rateOf([later, country], { address, at: from })).toEqual(['15']);
  });

  it('the rate that began last applies', () => {
    const rates = ['2023-01-01', '2025-01-01', '2024-01-01'].map((from, index) =>
      rate(`${index}`, { from: new Date(from) }),
    );
    expect(rateOf([rate('9'), ...rates])).toEqual(['1']);
  });

  it('an order without an address is taxed in the country of the shop, and another country has no rate', () => {
    expect(rateOf([rate('8.1')])).toEqual(['8.1']);
    expect(rateOf([rate('8.1')], { address: { country: 'DE' } })).toEqual([]);
  });

  it('a line of a category without a rate is not taxed', () => {
    const lines = [line({ taxCategory: 'books' }), line({ productId: 'p1' })];
    const { pricing } = price({ lines }, { taxes: 'added', taxRates: [rate('10')] });
    expect(pricing?.lines.map((each) => [each.rate, each.taxMinor])).toEqual([
      [undefined, 0],
      [0, 100],
    ]);
  });

  it('rates of two categories with the same name and percentage are rounded as one', () => {
    const lines = [line({ unitPriceMinor: 5 }), line({ productId: 'p1', unitPriceMinor: 5, taxCategory: 'books' })];
    const taxRates = [rate('10'), rate('10.0', { id: 'b', category: 'books' })];
    const { pricing } = price({ lines }, { taxes: 'added', taxRates });
    expect(pricing?.rates).toEqual([{ name: 'VAT', rate: '10' }]);
    expect(pricing?.lines.map((each) => [each.rate, each.taxMinor])).toEqual([
      [0, 1],
      [0, 0],
    ]);
  });

  it('rates are ignored while taxes are off, also those of an exempt customer', () => {
    const { pricing } = price({ isTaxExempt: true }, { taxes: 'off', taxRates: [rate('10')] });
    expect(pricing).toMatchObject({ rates: [], lines: [{ taxMinor: 0 }] });
    expect(pricing?.isTaxExempt).toBeUndefined();
  });
});

it.each([
  ['AT', 'AT', true],
  ['AT', 'FR', true],
  ['AT', 'DE', false],
  ['DE', 'AT', false],
  ['DE', 'DE', false],
])(
  'a shop in DE and a customer with a tax id of %s who is sent goods to %s: the customer owes the tax: %s',
  (taxId, to, owes) => {
    const lists = { shippingMethods: [], taxRates: [], discounts: [] };
    const settings = { version: 1, taxes: 'included', country: 'DE', ...lists } as const;
    expect(isReverseCharge(taxId, { country: to }, settings)).toBe(owes);
  },
);
