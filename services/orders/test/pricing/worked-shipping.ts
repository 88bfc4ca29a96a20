// Orders with shipping, and returns.
// The figures are those of the sources. Where a page has only some of them, `source` says which were calculated by
// hand.
import type { WorkedExample } from './worked-example.ts';

export const workedShipping: readonly WorkedExample[] = [
  {
    title: 'Shopify: 4 cents of discount on three units are 1, 1 and 2 cents',
    source:
      'https://shopify.dev/docs/api/admin-graphql/2024-04/objects/FinancialSummaryDiscountAllocation; which unit has 2 cents by hand',
    lines: [{ price: '1', quantity: 3 }],
    discounts: [{ amount: '0.04' }],
    expected: { lines: ['discount 0.04, total 2.96'], discounts: ['d0'], total: '2.96' },
    refunds: [
      { gone: [1], refund: '0.99' },
      { gone: [2], refund: '0.98' },
      { gone: [3], refund: '0.99' },
    ],
  },
  {
    title: 'Shipping is not free, because the lines cost less than 50 after the discount',
    source: 'by hand: 52 − 5.20 + 4.90 = 51.70, which is less than 52 without the discount',
    lines: [{ price: '52' }],
    shipping: { price: '4.90', freeFrom: '50' },
    discounts: [{ percent: '10' }],
    expected: { lines: ['discount 5.20, total 46.80'], shipping: 'total 4.90', discounts: ['d0'], total: '51.70' },
  },
  {
    title: 'A discount is not used when it costs more shipping than it saves',
    source: 'by hand: 50 − 1 + 4.90 = 53.90',
    lines: [{ price: '50' }],
    shipping: { price: '4.90', freeFrom: '50' },
    discounts: [{ percent: '2' }],
    expected: { lines: ['total 50.00'], shipping: 'total 0.00', total: '50.00' },
  },
  {
    title: 'Free shipping takes the price of shipping, and with it the tax in it',
    source: 'by hand: 20 · 19 / 119 = 3.19…',
    taxes: 'included',
    rates: [{ rate: '19' }],
    lines: [{ price: '20' }],
    shipping: { price: '4.90' },
    discounts: [{ isFreeShipping: true }],
    expected: {
      lines: ['tax 3.19, total 20.00'],
      shipping: 'discount 4.90, total 0.00',
      discounts: ['d0'],
      taxes: ['19 % of 16.81: 3.19'],
      total: '20.00',
    },
  },
  {
    title: 'A price per kilogram counts each kilogram begun',
    source: 'by hand: 3 · 700 g begin 3 kg; 3 + 3 · 1.20',
    lines: [{ price: '10', quantity: 3, grams: 700 }],
    shipping: { price: '3', perKilogram: '1.20' },
    expected: { lines: ['total 30.00'], shipping: 'total 6.60', total: '36.60' },
  },
  {
    title: 'Returns: each unit gives back its share of discount and tax, the last one also shipping',
    source: 'by hand: discount 5.00 → 3.33 → 1.67 → 0, tax 4.54 → 3.03 → 1.51 → 0',
    taxes: 'added',
    rates: [{ rate: '8.25' }],
    lines: [{ price: '19.99', quantity: 3 }],
    shipping: { price: '4.90', category: 'untaxed' },
    discounts: [{ amount: '5' }],
    expected: {
      lines: ['discount 5.00, tax 4.54, total 59.51'],
      shipping: 'total 4.90',
      discounts: ['d0'],
      taxes: ['8.25 % of 54.97: 4.54'],
      total: '64.41',
    },
    refunds: [
      { gone: [1], refund: '19.83' },
      { gone: [2], refund: '19.85' },
      { gone: [3], refund: '24.73' },
    ],
  },
  {
    title: 'Returns: two discounts that leave nothing give nothing back',
    source: 'by hand; rounded each on its own, the first unit would cost 0.01 more after its return',
    lines: [{ price: '0.01', quantity: 2 }],
    discounts: [{ amount: '0.01' }, { amount: '0.01' }],
    expected: { lines: ['discount 0.02, total 0.00'], discounts: ['d0', 'd1'], total: '0.00' },
    refunds: [
      { gone: [1], refund: '0.00' },
      { gone: [2], refund: '0.00' },
    ],
  },
];
