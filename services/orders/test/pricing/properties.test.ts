// What holds for the price of every order, whatever its lines, shipping, discounts and taxes.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { priceOrder } from '../../src/pricing/price-order.ts';
import type { Pricing, PricingInput, PricingSettings, Totals } from '../../src/pricing/pricing.ts';
import { remainingTotals } from '../../src/pricing/totals.ts';
import { type PricedCase, pricedCase } from './arbitraries.ts';

const runs = { numRuns: 1_000 };

/** Checks a property of the orders that have a price. */
function forEveryOrder(check: (pricing: Pricing, given: PricedCase) => void): void {
  const property = fc.property(pricedCase, (given) => {
    const { pricing } = priceOrder(given.input, given.settings);
    if (pricing) check(pricing, given);
  });
  fc.assert(property, runs);
}

/** Checks a property of the orders that have a price, after random units of them are gone. */
function forEveryRemainder(check: (totals: Totals, pricing: Pricing) => void): void {
  const property = fc.property(
    pricedCase,
    fc.infiniteStream(fc.nat()),
    fc.boolean(),
    (given, choices, keepShipping) => {
      const { pricing } = priceOrder(given.input, given.settings);
      if (!pricing) return;
      const gone = pricing.lines.map(({ quantity }) => next(choices) % (quantity + 1));
      check(remainingTotals(pricing, gone, { keepShipping }), pricing);
    },
  );
  fc.assert(property, runs);
}

describe('the price of an order', () => {
  it('the lines and shipping of an order add up to its total, its discounts, its taxes and their bases', () => {
    forEveryRemainder((totals, pricing) => {
      const parts = partsOf(totals);
      const isAdded = pricing.taxes === 'added';
      for (const part of parts) {
        const beforeExemption = part.priceMinor - part.discountMinor + (isAdded ? part.taxMinor : 0);
        if (pricing.isTaxExempt) expect(part.totalMinor).toBeLessThanOrEqual(beforeExemption);
        else expect(part.totalMinor).toBe(beforeExemption);
      }
      expect(totals.totalMinor).toBe(sum(parts.map(({ totalMinor }) => totalMinor)));
      expect(sum(totals.discountsMinor)).toBe(sum(parts.map(({ discountMinor }) => discountMinor)));
      expect(sum(totals.taxes.map(({ amountMinor }) => amountMinor))).toBe(sum(parts.map(({ taxMinor }) => taxMinor)));
      const taxed = [...pricing.lines, ...(totals.shipping && pricing.shipping ? [pricing.shipping] : [])];
      const bases = parts.map(({ totalMinor, taxMinor }, part) =>
        taxed[part]?.rate === undefined ? 0 : totalMinor - taxMinor,
      );
      expect(sum(totals.taxes.map(({ baseMinor }) => baseMinor))).toBe(sum(bases));
      const prices = sum(parts.map(({ priceMinor }) => priceMinor));
      const added = isAdded ? sum(totals.taxes.map(({ amountMinor }) => amountMinor)) : 0;
      expect(totals.totalMinor).toBe(prices - sum(totals.discountsMinor) + added - totals.exemptionMinor);
    });
  });

  it('no amount of an order is negative, and no discount exceeds the price that it is taken from', () => {
    forEveryRemainder((totals) => {
      for (const { priceMinor, discountMinor, taxMinor, totalMinor } of partsOf(totals)) {
        expect(Math.min(priceMinor, discountMinor, taxMinor, totalMinor)).toBeGreaterThanOrEqual(0);
        expect(discountMinor).toBeLessThanOrEqual(priceMinor);
      }
      expect(Math.min(0, ...amountsOf(totals))).toBe(0);
    });
  });

  it('the tax of a rate is rounded once on the sum of its lines and shipping, half away from zero', () => {
    forEveryOrder((pricing) => {
      if (pricing.taxes === 'off') return;
      const { taxes } = remainingTotals(pricing);
      pricing.rates.forEach(({ rate }, index) => {
        const { baseMinor = 0, amountMinor = 0 } = taxes[index] ?? {};
        const percent = BigInt(rate.replace('.', '')) * 10n ** BigInt(4 - (rate.split('.')[1]?.length ?? 0));
        const [tax, base] = [BigInt(amountMinor), BigInt(baseMinor)];
        const whole = 1_000_000n + (pricing.taxes === 'included' ? percent : 0n);
        const exact = (pricing.taxes === 'included' ? base + tax : base) * percent;
        expect((2n * tax - 1n) * whole <= 2n * exact && 2n * exact < (2n * tax + 1n) * whole).toBe(true);
      });
    });
  });

  it('a share of a tax differs from the exact tax of its line by less than two of the smallest unit', () => {
    forEveryOrder((pricing) => {
      for (const [index, { rate, taxMinor }] of pricing.lines.entries()) {
        if (rate === undefined) continue;
        const percent = Number(pricing.rates[rate]?.rate);
        const { totalMinor } = remainingTotals(pricing).lines[index] ?? { totalMinor: 0 };
        if (totalMinor > 1_000_000_000) continue;
        const exact =
          pricing.taxes === 'included'
            ? (totalMinor * percent) / (100 + percent)
            : ((totalMinor - taxMinor) * percent) / 100;
        expect(Math.abs(exact - taxMinor)).toBeLessThan(2);
      }
    });
  });

  it('an exempt customer pays what others pay without the tax', () => {
    const property = fc.property(pricedCase, ({ input, settings }) => {
      const terms = { ...settings, discounts: [] };
      const { discount: _, ...withoutCode } = input;
      const [exempt, other] = [true, false].map((isTaxExempt) => totalsOf({ ...withoutCode, isTaxExempt }, terms));
      if (!exempt || !other) return;
      const tax = sum(other.taxes.map(({ amountMinor }) => amountMinor));
      expect(exempt).toMatchObject({ totalMinor: other.totalMinor - tax, taxes: [] });
      expect(exempt.exemptionMinor).toBe(settings.taxes === 'included' ? tax : 0);
    });
    fc.assert(property, runs);
  });

  it('the order of the configured discounts, shipping methods and tax rates does not matter', () => {
    const reversed = (settings: PricingSettings): PricingSettings => ({
      ...settings,
      discounts: settings.discounts.toReversed(),
      shippingMethods: settings.shippingMethods.toReversed(),
      taxRates: settings.taxRates.toReversed(),
    });
    forEveryOrder((pricing, { input, settings }) => {
      expect(priceOrder(input, reversed(settings)).pricing).toEqual(pricing);
    });
  });

  it('an order without a price has an amount above the largest one, and an order with a price has none', () => {
    const property = fc.property(pricedCase, ({ input, settings }) => {
      const { pricing, faults } = priceOrder(input, settings);
      expect(faults.some(({ kind }) => kind === 'total-too-large')).toBe(pricing === undefined);
      if (pricing) expect(Math.max(...amountsOf(remainingTotals(pricing)))).toBeLessThanOrEqual(999_999_999_999_999);
    });
    fc.assert(property, runs);
  });
});

describe('discounts', () => {
  it('the customer pays no more than with any single discount, and no more than without one', () => {
    forEveryOrder((pricing, { input, settings }) => {
      const { discount, ...withoutCode } = input;
      const all = [...settings.discounts, ...(discount ? [discount] : [])];
      const { totalMinor } = remainingTotals(pricing);
      for (const discounts of [[], ...all.map((each) => [each])]) {
        const alone = totalsOf(withoutCode, { ...settings, discounts });
        if (alone) expect(totalMinor).toBeLessThanOrEqual(alone.totalMinor);
      }
    });
  });

  it('several discounts are used only when all of them are combinable', () => {
    forEveryOrder((pricing, { input, settings }) => {
      const all = [...settings.discounts, ...(input.discount ? [input.discount] : [])];
      const used = pricing.discounts.map(({ id }) => all.find((each) => each.id === id));
      if (used.length > 1) expect(used.map((each) => each?.combinable)).toEqual(used.map(() => true));
    });
  });

  it('each used discount takes something, and takes it only from the lines that it applies to', () => {
    forEveryOrder((pricing, { input, settings }) => {
      const { discountsMinor } = remainingTotals(pricing);
      expect(Math.min(1, ...discountsMinor)).toBe(1);
      const all = [...settings.discounts, ...(input.discount ? [input.discount] : [])];
      pricing.discounts.forEach(({ id }, index) => {
        const brands = all.find((each) => each.id === id)?.appliesTo?.brands;
        pricing.lines.forEach((line, position) => {
          const applies = brands?.includes(input.lines[position]?.brand ?? '') ?? true;
          if (!applies) expect(line.discountsMinor[index]).toBe(0);
        });
      });
    });
  });

  it('a used discount of free shipping takes the whole price of shipping, and nothing of the lines', () => {
    forEveryOrder((pricing, { input, settings }) => {
      const all = [...settings.discounts, ...(input.discount ? [input.discount] : [])];
      pricing.discounts.forEach(({ id }, index) => {
        if (all.find((each) => each.id === id)?.kind !== 'free-shipping') return;
        expect(pricing.shipping?.discountsMinor[index]).toBe(pricing.shipping?.priceMinor);
        expect(pricing.lines.map(({ discountsMinor }) => discountsMinor[index])).toEqual(pricing.lines.map(() => 0));
      });
    });
  });
});

describe('cancellations and returns', () => {
  it('any steps in any order give back exactly what was paid, and no step gives back less than nothing', () => {
    const property = fc.property(
      pricedCase,
      fc.infiniteStream(fc.nat()),
      fc.boolean(),
      (given, choices, keepShipping) => {
        const { pricing } = priceOrder(given.input, given.settings);
        if (!pricing) return;
        const gone = pricing.lines.map(() => 0);
        const whole = remainingTotals(pricing, gone, { keepShipping });
        let before = whole;
        let refunded = 0;
        while (sum(gone) < sum(pricing.lines.map(({ quantity }) => quantity))) {
          const line = next(choices) % gone.length;
          const left = (pricing.lines[line]?.quantity ?? 0) - (gone[line] ?? 0);
          gone[line] = (gone[line] ?? 0) + (next(choices) % (left + 1));
          const after = remainingTotals(pricing, gone, { keepShipping });
          const amounts = amountsOf(before);
          const grown = amountsOf(after).filter((amount, index) => amount > (amounts[index] ?? 0));
          if (grown.length > 0) expect({ gone, before, after }).toBe('amounts that do not grow');
          refunded += before.totalMinor - after.totalMinor;
          before = after;
        }
        const kept = keepShipping ? (whole.shipping?.totalMinor ?? 0) : 0;
        expect(refunded).toBe(whole.totalMinor - kept);
        expect(before.totalMinor).toBe(kept);
      },
    );
    fc.assert(property, runs);
  });

  it('the first discount of a line falls with its units, rounded half away from zero', () => {
    forEveryOrder((pricing) => {
      const [line] = pricing.lines;
      const first = line?.discountsMinor.findIndex((minor) => minor > 0) ?? -1;
      if (!line || first < 0 || line.discountsMinor.filter((minor) => minor > 0).length > 1) return;
      const discount = BigInt(line.discountsMinor[first] ?? 0);
      for (let units = 0; units <= line.quantity; units += 1) {
        const [numerator, denominator] = [discount * BigInt(units), BigInt(line.quantity)];
        const expected = discount - (2n * numerator + denominator) / (2n * denominator);
        expect(remainingTotals(pricing, [units]).lines[0]?.discountMinor).toBe(Number(expected));
      }
    });
  });

  it('shipping is paid as long as a unit that is sent is left, or when it is kept', () => {
    const property = fc.property(
      pricedCase,
      fc.infiniteStream(fc.nat()),
      fc.boolean(),
      (given, choices, keepShipping) => {
        const { pricing } = priceOrder(given.input, given.settings);
        if (!pricing) return;
        const gone = pricing.lines.map(({ quantity }) => (next(choices) % 2) * quantity);
        const isSent = pricing.lines.some(({ shipped, quantity }, line) => shipped && quantity > (gone[line] ?? 0));
        const { shipping } = remainingTotals(pricing, gone, { keepShipping });
        expect(shipping !== undefined).toBe(pricing.shipping !== undefined && (isSent || keepShipping));
      },
    );
    fc.assert(property, runs);
  });
});

function totalsOf(input: PricingInput, settings: PricingSettings): Totals | undefined {
  const { pricing } = priceOrder(input, settings);
  return pricing && remainingTotals(pricing);
}

function partsOf({ lines, shipping }: Totals) {
  return [...lines, ...(shipping ? [shipping] : [])];
}

/** Returns every amount of the totals that a refund can have a part of. */
function amountsOf(totals: Totals): number[] {
  const none = { priceMinor: 0, discountMinor: 0, taxMinor: 0, totalMinor: 0 };
  return [
    ...[...totals.lines, totals.shipping ?? none].flatMap((part) => [
      part.priceMinor,
      part.discountMinor,
      part.taxMinor,
      part.totalMinor,
      part.totalMinor - part.taxMinor,
    ]),
    ...totals.discountsMinor,
    ...totals.taxes.flatMap(({ baseMinor, amountMinor }) => [baseMinor, amountMinor]),
    totals.exemptionMinor,
    totals.totalMinor,
  ];
}

function next(stream: Iterator<number>): number {
  return stream.next().value;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
