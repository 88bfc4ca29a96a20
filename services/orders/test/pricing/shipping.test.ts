// Which shipping method an order has, and why it is refused.
import { describe, expect, it } from '@jest/globals';
import { priceOrder } from '../../src/pricing/price-order.ts';
import type { PricingInput, ShippingMethod } from '../../src/pricing/pricing.ts';
import { remainingTotals } from '../../src/pricing/totals.ts';
import { at, line, method, price } from './builders.ts';

describe('shipping', () => {
  const chosen = (shippingMethods: ShippingMethod[], input: Partial<PricingInput> = {}) => {
    const { pricing, faults } = price(input, { shippingMethods });
    return faults.length > 0 ? faults : pricing?.shipping?.methodId;
  };

  it('an order without a chosen method has the cheapest one, then the one with the smaller position, then the older one', () => {
    expect(chosen([method('m1'), method('m2', { priceMinor: 400 })])).toBe('m2');
    expect(chosen([method('m1', { position: 2 }), method('m2')])).toBe('m2');
    expect(chosen([method('m2'), method('m1')])).toBe('m1');
  });

  it('the cheapest method is the one that is cheapest after free shipping from an amount, and with the price of the weight', () => {
    const free = method('m1', { priceMinor: 900, freeFromMinor: 1_000 });
    expect(chosen([free, method('m2')])).toBe('m1');
    const heavy = method('m1', { priceMinor: 100, pricePerKilogramMinor: 150 });
    expect(chosen([heavy, method('m2')], { lines: [line({ weightGrams: 2_000 })] })).toBe('m1');
    expect(chosen([heavy, method('m2')], { lines: [line({ weightGrams: 2_001 })] })).toBe('m2');
  });

  it('shipping is free from exactly the amount of the method, and not one unit below', () => {
    const priceOf = (unitPriceMinor: number) => {
      const shippingMethods = [method('m1', { freeFromMinor: 5_000 })];
      return price({ lines: [line({ unitPriceMinor })] }, { shippingMethods }).pricing?.shipping?.priceMinor;
    };
    expect([priceOf(4_999), priceOf(5_000)]).toEqual([500, 0]);
  });

  it('a method serves the countries that it lists, in any case and with blanks around', () => {
    const methods = [method('m1', { countries: ['DE', 'CH'] }), method('m2', { priceMinor: 600 })];
    expect(chosen(methods, { address: { country: ' ch ' } })).toBe('m1');
    expect(chosen(methods, { address: { country: 'FR' } })).toBe('m2');
    expect(chosen(methods)).toBe('m1');
    expect(chosen(methods, { address: { country: ' ' } })).toBe('m1');
  });

  it('without a country of the address and of the shop, only methods for all countries serve an order', () => {
    const shippingMethods = [method('m1', { countries: ['CH'] }), method('m2', { priceMinor: 600 })];
    const settings = { version: 1, taxes: 'off' as const, shippingMethods, taxRates: [], discounts: [] };
    expect(priceOrder({ lines: [line()], at }, settings).pricing?.shipping?.methodId).toBe('m2');
  });

  it('an order with nothing to send, or in a shop without methods, has no shipping and no fault, whatever was chosen', () => {
    const input = { lines: [line({ shipped: false })], shippingMethodId: 'm9' };
    expect(chosen([method('m1', { countries: [] })], input)).toBeUndefined();
    expect(chosen([], { shippingMethodId: 'm9' })).toBeUndefined();
  });

  it('only the weight of lines that are sent counts, for each unit', () => {
    const lines = [
      line({ weightGrams: 300, quantity: 3 }),
      line({ productId: 'p1', weightGrams: 9_000, shipped: false }),
      line({ productId: 'p2' }),
    ];
    expect(chosen([method('m1', { maximumWeightGrams: 900 })], { lines })).toBe('m1');
    expect(chosen([method('m1', { maximumWeightGrams: 899 })], { lines })).toEqual([
      { kind: 'not-delivered-there', reason: 'weight', weightGrams: 900, maximumWeightGrams: 899 },
    ]);
  });

  it('a fault names the countries that are served, or none when a method serves all', () => {
    const kind = 'not-delivered-there';
    const input = { address: { country: 'FR' } };
    const methods = [method('m1', { countries: ['DE', 'CH'] }), method('m2', { countries: ['AT', 'DE'] })];
    expect(chosen(methods, input)).toEqual([{ kind, reason: 'country', countries: ['AT', 'CH', 'DE'] }]);
    const light = method('m3', { maximumWeightGrams: 10 });
    expect(chosen([...methods, light], { ...input, lines: [line({ weightGrams: 11 })] })).toEqual([
      { kind, reason: 'weight', weightGrams: 11, maximumWeightGrams: 10 },
    ]);
  });

  it('a chosen method is used although another is cheaper, or refused when it is unknown, too weak or for other countries', () => {
    const kind = 'not-delivered-there';
    const methods = [method('m1', { countries: ['DE'] }), method('m2', { maximumWeightGrams: 1_000 }), method('m3')];
    const heavy = { lines: [line({ weightGrams: 1_001 })] };
    expect(chosen([...methods, method('m0', { priceMinor: 1 })], { shippingMethodId: 'm3' })).toBe('m3');
    expect(chosen(methods, { shippingMethodId: 'm1' })).toEqual([{ kind, reason: 'country', countries: ['DE'] }]);
    expect(chosen(methods, { ...heavy, shippingMethodId: 'm2' })).toEqual([
      { kind, reason: 'weight', weightGrams: 1_001, maximumWeightGrams: 1_000 },
    ]);
    expect(chosen(methods, { shippingMethodId: 'm9' })).toEqual([{ kind, reason: 'unknown-method' }]);
  });

  it('an order that is not delivered still has a price, without shipping', () => {
    const { pricing } = price(
      { address: { country: 'FR' } },
      { shippingMethods: [method('m1', { countries: ['CH'] })] },
    );
    expect(pricing && remainingTotals(pricing)).toMatchObject({ totalMinor: 1_000 });
    expect(pricing?.shipping).toBeUndefined();
  });
});
