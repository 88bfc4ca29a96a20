// Orders that were priced by hand, most of them by tax offices and makers of other shops.
import { describe, expect, it } from '@jest/globals';
import { priceOrder } from '../../src/pricing/price-order.ts';
import type { Amounts, Pricing } from '../../src/pricing/pricing.ts';
import { remainingTotals } from '../../src/pricing/totals.ts';
import { workedAdded } from './worked-added.ts';
import { workedDiscounts } from './worked-discounts.ts';
import { inputOf, type WorkedExample } from './worked-example.ts';
import { workedIncluded } from './worked-included.ts';
import { workedShipping } from './worked-shipping.ts';

describe('worked examples', () => {
  it.each([...workedIncluded, ...workedAdded, ...workedDiscounts, ...workedShipping])(
    'an order costs what was calculated by hand: $title',
    (example) => {
      const { input, settings } = inputOf(example);
      const { pricing, faults } = priceOrder(input, settings);
      expect(faults).toEqual([]);
      if (!pricing) throw new Error('The order has no price.');
      expect(resultOf(pricing, example)).toEqual(example.expected);

      let before = remainingTotals(pricing).totalMinor;
      for (const { gone, refund } of example.refunds ?? []) {
        const after = remainingTotals(pricing, gone).totalMinor;
        expect({ gone, refund: text(before - after, example) }).toEqual({ gone, refund });
        before = after;
      }
    },
  );
});

function resultOf(pricing: Pricing, example: WorkedExample): WorkedExample['expected'] {
  const totals = remainingTotals(pricing);
  const taxes = totals.taxes.map(({ baseMinor, amountMinor }, index) => {
    return `${pricing.rates[index]?.rate} % of ${text(baseMinor, example)}: ${text(amountMinor, example)}`;
  });
  return {
    lines: totals.lines.map((line) => amountsText(line, example)),
    ...(totals.shipping && { shipping: amountsText(totals.shipping, example) }),
    ...(pricing.discounts.length > 0 && { discounts: pricing.discounts.map(({ id }) => id) }),
    ...(taxes.length > 0 && { taxes }),
    ...(totals.exemptionMinor > 0 && { exemption: text(totals.exemptionMinor, example) }),
    total: text(totals.totalMinor, example),
  };
}

function amountsText({ discountMinor, taxMinor, totalMinor }: Amounts, example: WorkedExample): string {
  const parts = [`total ${text(totalMinor, example)}`];
  if (taxMinor > 0) parts.unshift(`tax ${text(taxMinor, example)}`);
  if (discountMinor > 0) parts.unshift(`discount ${text(discountMinor, example)}`);
  return parts.join(', ');
}

/** Returns an amount in the currency of the example. */
function text(amount: number, { decimals = 2 }: WorkedExample): string {
  return (amount / 10 ** decimals).toFixed(decimals);
}
