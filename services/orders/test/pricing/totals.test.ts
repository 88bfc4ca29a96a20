// What is left of the amounts of an order after cancellations and returns.
import { describe, expect, it } from '@jest/globals';
import type { PricingInput, PricingSettings } from '../../src/pricing/pricing.ts';
import { remainingTotals } from '../../src/pricing/totals.ts';
import { amountOff, line, method, price, rate } from './builders.ts';

function pricingOf(input: Partial<PricingInput>, settings: Partial<PricingSettings>) {
  const { pricing } = price(input, settings);
  if (!pricing) throw new Error('The order has no price.');
  return pricing;
}

describe('remaining totals', () => {
  const lines = [line({ quantity: 2 }), line({ productId: 'p1', shipped: false })];

  it('shipping is paid until the last unit that is sent is gone, even when other lines are left', () => {
    const pricing = pricingOf({ lines }, { shippingMethods: [method('m1')] });
    const totals = [[], [1], [1, 1], [2]].map((gone) => remainingTotals(pricing, gone).totalMinor);
    expect(totals).toEqual([3_500, 2_500, 1_500, 1_000]);
  });

  it('shipping that is kept is paid even when everything is gone', () => {
    const pricing = pricingOf({ lines }, { shippingMethods: [method('m1')] });
    expect(remainingTotals(pricing, [2, 1])).toMatchObject({ totalMinor: 0, discountsMinor: [] });
    expect(remainingTotals(pricing, [2, 1], { keepShipping: true })).toMatchObject({
      shipping: { priceMinor: 500, totalMinor: 500 },
      totalMinor: 500,
    });
  });

  it('the tax falls with the discounted amount, because with the units the base of a refund could be negative', () => {
    const input = { lines: [line({ unitPriceMinor: 1, quantity: 2 })], discount: amountOff('d1', 1) };
    const pricing = pricingOf(input, { taxes: 'included', taxRates: [rate('100')] });
    const taxes = [[], [1], [2]].map((gone) => remainingTotals(pricing, gone).taxes[0]);
    expect(taxes).toEqual([
      { baseMinor: 0, amountMinor: 1 },
      { baseMinor: 0, amountMinor: 1 },
      { baseMinor: 0, amountMinor: 0 },
    ]);
  });
});
