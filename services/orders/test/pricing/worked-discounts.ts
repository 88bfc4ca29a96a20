// Orders with discounts.
// The figures are those of the sources. Where a page has only some of them, `source` says which were calculated by
// hand.
import type { WorkedExample } from './worked-example.ts';

const prorateOfVendure =
  'https://github.com/vendure-ecommerce/vendure/blob/master/packages/core/src/service/helpers/order-calculator/prorate.spec.ts';

export const workedDiscounts: readonly WorkedExample[] = [
  {
    title: 'California: a coupon of the shop reduces the amount that is taxed',
    source: 'https://californiatoday.com/deals-tax-coupons/ for the amount of 80; 7.25 % by hand',
    taxes: 'added',
    rates: [{ rate: '7.25' }],
    lines: [{ price: '100' }],
    discounts: [{ amount: '20' }],
    expected: {
      lines: ['discount 20.00, tax 5.80, total 85.80'],
      discounts: ['d0'],
      taxes: ['7.25 % of 80.00: 5.80'],
      total: '85.80',
    },
  },
  {
    title: 'Singapore: the tax is of the price after a discount of 10 %',
    source: 'https://www.bestar-sg.com/post/understanding-gst-on-discounts-and-rebates-in-singapore; 9 % by hand',
    taxes: 'added',
    rates: [{ rate: '9' }],
    lines: [{ price: '100' }],
    discounts: [{ percent: '10' }],
    expected: {
      lines: ['discount 10.00, tax 8.10, total 98.10'],
      discounts: ['d0'],
      taxes: ['9 % of 90.00: 8.10'],
      total: '98.10',
    },
  },
  {
    title: 'India: a discount on one line of an invoice with packing charges',
    source: 'http://www.lawcrux.com/data5t/gt/gtexmp/example_17.htm',
    taxes: 'added',
    rates: [{ rate: '18' }],
    lines: [{ price: '300000' }, { price: '5000' }],
    discounts: [{ percent: '1', lines: [0] }],
    expected: {
      lines: ['discount 3000.00, tax 53460.00, total 350460.00', 'tax 900.00, total 5900.00'],
      discounts: ['d0'],
      taxes: ['18 % of 302000.00: 54360.00'],
      total: '356360.00',
    },
  },
  {
    title: 'United Kingdom: the price of a meal deal is apportioned by shelf prices before its tax',
    source: 'https://www.gov.uk/hmrc-internal-manuals/vat-valuation/vatval04200; tax of the wine by hand',
    taxes: 'included',
    rates: [{ rate: '20' }, { rate: '0', category: 'zero' }],
    lines: [
      { price: '6', category: 'zero' },
      { price: '1.50', category: 'zero' },
      { price: '1.50', category: 'zero' },
      { price: '6' },
    ],
    discounts: [{ amount: '5' }],
    expected: {
      lines: [
        'discount 2.00, total 4.00',
        'discount 0.50, total 1.00',
        'discount 0.50, total 1.00',
        'discount 2.00, tax 0.67, total 4.00',
      ],
      discounts: ['d0'],
      taxes: ['0 % of 6.00: 0.00', '20 % of 3.33: 0.67'],
      total: '10.00',
    },
  },
  {
    title: 'VTEX: an amount is shared by the prices of four products',
    source: 'https://help.vtex.com/en/docs/tutorials/how-does-promotion-proration-work; shares of 20 % by hand',
    lines: [{ price: '190' }, { price: '190' }, { price: '250' }, { price: '150' }],
    discounts: [{ amount: '156' }],
    expected: {
      lines: [
        'discount 38.00, total 152.00',
        'discount 38.00, total 152.00',
        'discount 50.00, total 200.00',
        'discount 30.00, total 120.00',
      ],
      discounts: ['d0'],
      total: '624.00',
    },
  },
  {
    title: 'Salesforce: 15 % of an order',
    source: 'https://help.salesforce.com/s/articleView?id=cc.b2c_promotion_proration_logic.htm&language=ja&type=5',
    lines: [{ price: '60' }, { price: '50' }],
    discounts: [{ percent: '15' }],
    expected: {
      lines: ['discount 9.00, total 51.00', 'discount 7.50, total 42.50'],
      discounts: ['d0'],
      total: '93.50',
    },
  },
  {
    title: 'Salesforce: 15 % of an order without one of its products',
    source: 'https://help.salesforce.com/s/articleView?id=cc.b2c_promotion_proration_logic.htm&language=ja&type=5',
    lines: [{ price: '60' }, { price: '50' }, { price: '40' }],
    discounts: [{ percent: '15', lines: [0, 1] }],
    expected: {
      lines: ['discount 9.00, total 51.00', 'discount 7.50, total 42.50', 'total 40.00'],
      discounts: ['d0'],
      total: '133.50',
    },
  },
  {
    title: 'Vendure: an amount that is divided without a remainder',
    source: prorateOfVendure,
    lines: [{ price: '40' }, { price: '20' }, { price: '20' }],
    discounts: [{ amount: '3' }],
    expected: {
      lines: ['discount 1.50, total 38.50', 'discount 0.75, total 19.25', 'discount 0.75, total 19.25'],
      discounts: ['d0'],
      total: '77.00',
    },
  },
  {
    title: 'Vendure: an amount with remainders 0.71, 0.33 and 0.96',
    source: prorateOfVendure,
    lines: [{ price: '43' }, { price: '14' }, { price: '23' }],
    discounts: [{ amount: '2.99' }],
    expected: {
      lines: ['discount 1.61, total 41.39', 'discount 0.52, total 13.48', 'discount 0.86, total 22.14'],
      discounts: ['d0'],
      total: '77.01',
    },
  },
  {
    title: 'Vendure: of equal remainders the first shares are raised',
    source: prorateOfVendure,
    lines: [{ price: '10' }, { price: '10' }, { price: '10' }],
    discounts: [{ amount: '2.99' }],
    expected: {
      lines: ['discount 1.00, total 9.00', 'discount 1.00, total 9.00', 'discount 0.99, total 9.01'],
      discounts: ['d0'],
      total: '27.01',
    },
  },
  {
    title: 'Vendure: eight lines share an amount that leaves six units',
    source: prorateOfVendure,
    decimals: 0,
    lines: [
      { price: '10' },
      { price: '20' },
      { price: '10' },
      { price: '30' },
      { price: '50' },
      { price: '20' },
      { price: '10' },
      { price: '40' },
    ],
    discounts: [{ amount: '93' }],
    expected: {
      lines: [
        'discount 5, total 5',
        'discount 10, total 10',
        'discount 5, total 5',
        'discount 15, total 15',
        'discount 24, total 26',
        'discount 10, total 10',
        'discount 5, total 5',
        'discount 19, total 21',
      ],
      discounts: ['d0'],
      total: '97',
    },
  },
  {
    title: 'Largest remainder: seven seats for 50, 30 and 20 inhabitants',
    source: 'https://infinitelexicon.com/largestremainder; result by hand from its quotas 3.5, 2.1 and 1.4',
    decimals: 0,
    lines: [{ price: '50' }, { price: '30' }, { price: '20' }],
    discounts: [{ amount: '7' }],
    expected: {
      lines: ['discount 4, total 46', 'discount 2, total 28', 'discount 1, total 19'],
      discounts: ['d0'],
      total: '93',
    },
  },
  {
    title: 'Largest remainder: four seats for 500, 300, 110 and 20 votes',
    source: 'https://archipel-des-libertes.fr/6+GARDEN/Archive/largest+remainders+method',
    decimals: 0,
    lines: [{ price: '500' }, { price: '300' }, { price: '110' }, { price: '20' }],
    discounts: [{ amount: '4' }],
    expected: {
      lines: ['discount 2, total 498', 'discount 1, total 299', 'discount 1, total 109', 'total 20'],
      discounts: ['d0'],
      total: '926',
    },
  },
  {
    title: 'Combinable discounts together save more than one alone: 5 + 5 against 9',
    source: 'by hand: the amount of 5 is shared by what 10 % left, 27 and 18',
    lines: [{ price: '30' }, { price: '20' }],
    discounts: [{ amount: '5' }, { percent: '10' }, { percent: '18', isAlone: true }],
    expected: {
      lines: ['discount 6.00, total 24.00', 'discount 4.00, total 16.00'],
      discounts: ['d1', 'd0'],
      total: '40.00',
    },
  },
  {
    title: 'One discount alone saves more than the combinable ones: 12.50 against 10',
    source: 'by hand',
    lines: [{ price: '30' }, { price: '20' }],
    discounts: [{ amount: '5' }, { percent: '10' }, { percent: '25', isAlone: true }],
    expected: {
      lines: ['discount 7.50, total 22.50', 'discount 5.00, total 15.00'],
      discounts: ['d2'],
      total: '37.50',
    },
  },
  {
    title: 'Two percentages are both of the price before discounts',
    source: 'by hand: 50 % and 30 % of 10.01 are 5.005 and 3.003, each rounded',
    lines: [{ price: '10.01' }],
    discounts: [{ percent: '50' }, { percent: '30' }],
    expected: { lines: ['discount 8.01, total 2.00'], discounts: ['d0', 'd1'], total: '2.00' },
  },
  {
    title: 'An amount takes at most the price of its lines',
    source: 'by hand',
    lines: [{ price: '12' }, { price: '20' }],
    discounts: [{ amount: '30', lines: [0] }],
    expected: { lines: ['discount 12.00, total 0.00', 'total 20.00'], discounts: ['d0'], total: '20.00' },
  },
];
