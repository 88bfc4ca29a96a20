// Which discounts an order has, and why one is refused.
import { describe, expect, it } from '@jest/globals';
import type { Discount, PricingInput, PricingSettings } from '../../src/pricing/pricing.ts';
import { remainingTotals } from '../../src/pricing/totals.ts';
import { amountOff, at, line, method, price, rate } from './builders.ts';

describe('discounts', () => {
  const used = (input: Partial<PricingInput>, discounts: Discount[] = [], settings: Partial<PricingSettings> = {}) => {
    return price(input, { ...settings, discounts }).pricing?.discounts.map(({ id }) => id);
  };
  const code = (discount: Discount): Discount => ({ ...discount, code: 'CODE' });

  it('a code that does not apply is a fault with the figures of its remedy, and the price is shown without it', () => {
    const from = new Date('2026-06-01T12:00:00.001Z');
    const [kind, until] = ['discount-not-applicable', at];
    for (const [changes, fault] of [
      [{ minimumMinor: 5_000 }, { kind, reason: 'minimum', minimumMinor: 5_000, missingMinor: 4_000 }],
      [{ until }, { kind, reason: 'ended', until }],
      [{ from }, { kind, reason: 'not-begun', from }],
      [{ appliesTo: { brands: ['Other'] } }, { kind, reason: 'other-products' }],
    ] as const) {
      const { pricing, faults } = price({ discount: code(amountOff('d1', 100, changes)) });
      expect(faults).toEqual([fault]);
      expect(pricing && remainingTotals(pricing).totalMinor).toBe(1_000);
    }
  });

  it('an order shows all its faults at once', () => {
    const input = { address: { country: 'FR' }, discount: code(amountOff('d1', 100, { minimumMinor: 9_000 })) };
    const { faults } = price(input, { shippingMethods: [method('m1', { countries: ['CH'] })] });
    expect(faults.map(({ kind }) => kind)).toEqual(['not-delivered-there', 'discount-not-applicable']);
  });

  it('a discount applies from its first instant to the last one before its end, and from exactly its minimum', () => {
    const ends = new Date(at.getTime() + 1);
    expect(used({ discount: code(amountOff('d1', 100, { from: at, until: ends, minimumMinor: 1_000 })) })).toEqual([
      'd1',
    ]);
  });

  it('the minimum is compared with all lines before discounts', () => {
    const lines = [line(), line({ productId: 'p1', brand: 'Other', unitPriceMinor: 4_000 })];
    const limited = amountOff('d2', 100, { minimumMinor: 5_000, appliesTo: { brands: ['Acme'] }, combinable: true });
    expect(used({ lines }, [amountOff('d1', 900, { combinable: true }), limited])).toEqual(['d1', 'd2']);
  });

  it('a discount applies to the lines that any of its lists matches', () => {
    const lines = [
      line({ productId: 'a', group: 'G' }),
      line({ productId: 'b', brand: 'B' }),
      line({ productId: 'c', category: 'C' }),
      line({ productId: 'd' }),
    ];
    for (const [appliesTo, expected] of [
      [{ productIds: ['d'] }, [0, 0, 0, 100]],
      [{ brands: ['B'], categories: ['C'] }, [0, 50, 50, 0]],
      [{ groups: ['G'] }, [100, 0, 0, 0]],
      [undefined, [25, 25, 25, 25]],
    ] as const) {
      const { pricing } = price({ lines, discount: amountOff('d1', 100, appliesTo && { appliesTo }) });
      expect(pricing?.lines.map(({ discountsMinor }) => discountsMinor[0])).toEqual(expected);
    }
  });

  it('of combinations that cost the same, the one with the code is used, then the one with the oldest id', () => {
    expect(used({ discount: code(amountOff('d9', 100)) }, [amountOff('d1', 100), amountOff('d2', 100)])).toEqual([
      'd9',
    ]);
    expect(used({}, [amountOff('d3', 100), amountOff('d2', 100)])).toEqual(['d2']);
  });

  it('a code that saves less than other discounts is not part of the price', () => {
    const { pricing, faults } = price({ discount: code(amountOff('d9', 99)) }, { discounts: [amountOff('d1', 100)] });
    expect([pricing?.discounts, faults]).toEqual([[{ id: 'd1', name: 'd1' }], []]);
  });

  it('a discount that takes nothing is not part of the price', () => {
    const free: Discount = { id: 'd1', name: 'free', kind: 'free-shipping', combinable: true };
    const all: Discount = { id: 'd2', name: 'all', kind: 'percent', percent: '100', combinable: true };
    expect(used({}, [free, all, amountOff('d3', 5, { combinable: true })])).toEqual(['d2']);
  });

  it('of two discounts of free shipping only the older one is part of the price', () => {
    const free = (id: string): Discount => ({ id, name: id, kind: 'free-shipping', combinable: true });
    expect(used({}, [free('d2'), free('d1')], { shippingMethods: [method('m1')] })).toEqual(['d1']);
  });

  it('a code is shown with its discount, and a percentage has up to two decimals', () => {
    const discount: Discount = { id: 'd1', name: 'Eighth', kind: 'percent', percent: '12.5', combinable: false };
    const { pricing } = price({ discount: code(discount) });
    expect(pricing?.discounts).toEqual([{ id: 'd1', name: 'Eighth', code: 'CODE' }]);
    expect(pricing?.lines[0]?.discountsMinor).toEqual([125]);
  });

  it('the combination is chosen by what the customer pays with taxes and shipping', () => {
    const lines = [line({ taxCategory: 'high' }), line({ productId: 'p1', brand: 'Other' })];
    const discounts = [
      amountOff('d1', 100, { appliesTo: { brands: ['Other'] } }),
      amountOff('d2', 95, { appliesTo: { brands: ['Acme'] } }),
    ];
    const taxRates = [rate('50', { category: 'high' }), rate('0')];
    expect(used({ lines }, discounts, { taxes: 'added', taxRates })).toEqual(['d2']);
    expect(used({ lines }, discounts, { taxes: 'included', taxRates })).toEqual(['d1']);
  });
});
