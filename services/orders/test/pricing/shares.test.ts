// Exact shares, and the largest amount of an order.
import { describe, expect, it } from '@jest/globals';
import type { PricingSettings } from '../../src/pricing/pricing.ts';
import { apportion, remainingPart, roundedQuotient, scaled, sum } from '../../src/pricing/shares.ts';
import { remainingTotals } from '../../src/pricing/totals.ts';
import { line, method, price, rate } from './builders.ts';

describe('shares', () => {
  it('half of a unit is rounded away from zero', () => {
    expect([roundedQuotient(1n, 2n), roundedQuotient(3n, 2n), roundedQuotient(49n, 100n)]).toEqual([1n, 2n, 0n]);
  });

  it('a decimal is read exactly', () => {
    expect([scaled('8.1', 4), scaled('0.0001', 4), scaled('100', 2), scaled('0', 4)]).toEqual([
      81_000n,
      1n,
      10_000n,
      0n,
    ]);
  });

  it('the largest remainders are raised, of equal ones the first, and weights of 0 get nothing', () => {
    expect(apportion(10n, [0n, 1n, 1n, 1n])).toEqual([0n, 4n, 3n, 3n]);
    expect(apportion(5n, [3n, 7n])).toEqual([2n, 3n]);
    expect(apportion(7n, [0n, 0n])).toEqual([0n, 0n]);
  });

  it('shares of amounts near the limit add up exactly', () => {
    const whole = 999_999_999_999_998n;
    expect(sum(apportion(whole, [whole, whole - 1n, 1n, 3n]))).toBe(whole);
  });

  it('a part falls with its whole, and is gone with it', () => {
    expect([4n, 3n, 2n, 1n, 0n].map((rest) => remainingPart(2n, 4n, rest))).toEqual([2n, 1n, 1n, 0n, 0n]);
    expect(remainingPart(0n, 0n, 0n)).toBe(0n);
  });
});
describe('the largest amount', () => {
  it('an order of exactly the largest amount has a price, and one unit more has none', () => {
    const largest = 999_999_999_999_999;
    const priced = (unitPriceMinor: number, settings: Partial<PricingSettings> = {}) =>
      price({ lines: [line({ unitPriceMinor })] }, settings);
    const { pricing } = priced(largest);
    expect(pricing && remainingTotals(pricing).totalMinor).toBe(largest);
    const tooLarge = { faults: [{ kind: 'total-too-large' }] };
    expect(price({ lines: [line({ unitPriceMinor: largest, quantity: 2 })] })).toEqual(tooLarge);
    expect(priced(largest, { shippingMethods: [method('m1', { priceMinor: 1 })] })).toEqual(tooLarge);
    expect(priced(largest, { taxes: 'added', taxRates: [rate('0.0001')] })).toEqual(tooLarge);
  });
});
