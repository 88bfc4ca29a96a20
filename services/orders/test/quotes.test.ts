// POST /v1/quotes, and orders with a quote, on real processes.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createEncryption } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer, testSecret } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let mug: string;
let rare: string;
let rate: string;
let standard: string;
const switzerland = { country: 'CH' };

beforeAll(async () => {
  shop = await startShop({
    environment: { TAXES: 'added', SHOP_COUNTRY: 'CH', SHOP_CURRENCY: 'CHF', HOLD_UNITS: '100' },
  });
  customer = await shop.customer();
  mug = await shop.product({ name: 'Mug', price: 14.5, stock: 1_000 });
  rare = await shop.product({ name: 'Rare', price: 50, stock: 2 });
  rate = await shop.configure('tax-rates', { country: 'CH', rate: 8.1, name: 'MWST' });
  standard = await shop.configure('shipping-methods', {
    name: { de: 'A-Post' },
    countries: ['CH'],
    price: 8,
    position: 2,
  });
  await shop.configure('shipping-methods', { name: { de: 'Kurier' }, countries: ['CH'], price: 20, position: 1 });
  await shop.configure('discounts', { name: 'Ten', code: 'TEN', kind: 'amount', value: 10, minimum: 50 });
});
afterAll(() => shop.stop());

function quote(items: Readonly<Record<string, number>>, more: object = {}, token?: string): Promise<TestAnswer> {
  const lines = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
  const body = { items: lines, shipping_address: switzerland, ...more };
  return shop.orders.post('/v1/quotes', { body, ...(token && { token }) });
}

function order(items: Readonly<Record<string, number>>, more: object = {}): Promise<TestAnswer> {
  const lines = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
  const body = { items: lines, shipping_address: switzerland, ...more };
  return shop.orders.post('/v1/orders', { token: customer.token, body });
}

const patch = (path: string, body: object) =>
  shop.orders.patch(path, {
    token: shop.staff.token,
    body,
    headers: { 'Content-Type': 'application/merge-patch+json' },
  });

it('a quote needs no token, costs what the order costs, and stores and reserves nothing', async () => {
  const { status, body } = await quote({ [mug]: 2 });
  // 29.00 + 8.00 and 8.1 % of 37.00: 2.997.
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      itemsSummary: [
        { productId: mug, name: 'Mug', quantity: 2, unitPrice: 14.5, lineTotal: 29, taxRate: 8.1, tax: 2.35 },
      ],
      shipping: { methodId: standard, price: 8, tax: 0.65 },
      taxes: [{ name: 'MWST', rate: 8.1, base: 37, amount: 3 }],
      pricesIncludeTax: false,
      totalCost: 40,
      currency: 'CHF',
      shippingMethods: [
        { name: { de: 'Kurier' }, price: 20 },
        { id: standard, price: 8 },
      ],
      problems: [],
      quote: expect.any(String),
      validUntil: expect.any(String),
    },
  });
  expect(Math.abs(Date.parse(String(body.validUntil)) - Date.now() - 900_000)).toBeLessThan(60_000);
  expect((await shop.stockOf(mug)).reserved).toBe(0);
  const { status: placed, body: after } = await order({ [mug]: 2 }, { quote: body.quote });
  expect([placed, after.totalCost]).toEqual([201, 40]);
  const { itemsSummary, shipping, taxes } = body;
  expect(after).toMatchObject({ itemsSummary, shipping, taxes });
});

it('a quote lists every problem with the codes of the order, and is no promise then', async () => {
  const unknown = newId();
  const { status, body } = await quote(
    { [mug]: 1, [rare]: 3, [unknown]: 1 },
    { discountCode: 'NOBODY', shipping_address: { country: 'US' } },
  );
  expect(status).toBe(200);
  expect(body).not.toHaveProperty('quote');
  expect(body).not.toHaveProperty('validUntil');
  expect(body.itemsSummary).toMatchObject([{ productId: mug }, { productId: rare, quantity: 3 }]);
  expect(body.problems).toMatchObject([
    {
      code: 'insufficient-stock',
      status: 409,
      errors: [
        { pointer: '/items/1', productId: rare, requested: 3, available: 2 },
        { pointer: '/items/2', productId: unknown },
      ],
    },
    { code: 'discount-not-applicable', errors: [{ pointer: '/discountCode' }] },
    { code: 'not-delivered-there', status: 422 },
  ]);
  const nothing = await quote({ [unknown]: 1 });
  expect(nothing.body).toMatchObject({ itemsSummary: [], totalCost: 0, problems: [{ code: 'product-not-available' }] });
});

it('a quote says why a code does not apply, and shows the price without it', async () => {
  const { body } = await quote({ [mug]: 2 }, { discountCode: 'TEN' });
  expect(body).toMatchObject({
    totalCost: 40,
    problems: [{ code: 'discount-not-applicable', errors: [{ missing: 21 }] }],
  });
  const enough = await quote({ [mug]: 4 }, { discountCode: 'TEN' });
  expect(enough.body).toMatchObject({ problems: [], discounts: [{ name: 'Ten', code: 'TEN', amount: 10 }] });
});

it('an order with a quote is refused with everything that changed since', async () => {
  const { body: quoted } = await quote({ [mug]: 2 });
  await patch(`/v1/shipping-methods/${standard}`, { price: 9 });
  await patch(`/v1/tax-rates/${rate}`, { rate: 8.2 });
  const product = { price: 15 };
  await shop.catalogue.patch(`/v1/products/${mug}`, {
    token: shop.staff.token,
    body: product,
    headers: { 'Content-Type': 'application/merge-patch+json' },
  });
  try {
    // Until the settings are in force, the order is refused because of the price of the product alone.
    const refused = await eventually(async () => {
      const answer = await order({ [mug]: 2 }, { quote: quoted.quote });
      expect(answer.body.errors).toHaveLength(4);
      return answer;
    });
    // 30.00 + 9.00 and 8.2 % of 39.00: 3.198.
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 409,
      body: {
        code: 'price-changed',
        detail: 'The order costs 42.20, not 40.00. Nothing was ordered.',
        errors: [
          { pointer: '/quote', old: 40, new: 42.2 },
          { pointer: '/items/0', productId: mug, old: 14.5, new: 15 },
          { pointer: '/quote', part: 'shipping', old: 8, new: 9 },
          { pointer: '/quote', part: 'tax', old: 3, new: 3.2 },
        ],
      },
    });
    expect((await shop.stockOf(mug)).reserved).toBe(2);
  } finally {
    await patch(`/v1/shipping-methods/${standard}`, { price: 8 });
    await patch(`/v1/tax-rates/${rate}`, { rate: 8.1 });
  }
});

it('a quote of other items is refused with 400, and one that the shop did not make like an expired one', async () => {
  const { body: quoted } = await quote({ [mug]: 2 });
  const { status, body } = await order({ [mug]: 3 }, { quote: quoted.quote });
  const fault = { pointer: '/quote', detail: 'is the quote of other items' };
  expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid-request', errors: [fault] } });
  for (const text of [`${String(quoted.quote).slice(0, -2)}AA`, 'x']) {
    const refused = await order({ [mug]: 2 }, { quote: text });
    expect(refused).toMatchObject({ status: 409, body: { code: 'quote-expired', errors: [{ pointer: '/quote' }] } });
  }
});

it('a quote is refused once its time is over', async () => {
  const { body: quoted } = await quote({ [mug]: 2 });
  const encryption = createEncryption([testSecret], 'quotes');
  const opened = JSON.parse(encryption.decrypt(String(quoted.quote), 'quote'));
  const validUntil = new Date(Date.now() - 1).toISOString();
  const late = encryption.encrypt(JSON.stringify({ ...opened, validUntil }), 'quote');
  expect(await order({ [mug]: 2 }, { quote: late })).toMatchObject({
    status: 409,
    body: { code: 'quote-expired', detail: `The quote was valid until ${validUntil}. Nothing was ordered.` },
  });
  expect((await quote({ [mug]: 2 }, { quote: late })).body.problems).toMatchObject([{ code: 'quote-expired' }]);
});

it('all faults of a quoted body are listed at once', async () => {
  const items = [
    { productId: mug, quantity: 0 },
    { productId: mug, quantity: 1, expectedUnitPrice: 1.234 },
  ];
  const { status, body } = await shop.orders.post('/v1/quotes', { body: { items, cart: 1 } });
  expect(status).toBe(400);
  expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
    '/cart',
    '/items/0/quantity',
    '/items/1/expectedUnitPrice',
  ]);
});

it('a quote with a token lists the limits of the account, and one without a token does not', async () => {
  const buyer = await shop.customer();
  const many = { [mug]: 101 };
  const { body } = await quote(many, {}, buyer.token);
  expect(body.problems).toMatchObject([
    {
      code: 'hold-limit',
      status: 409,
      errors: [{ pointer: '/items', bound: 'units', limit: 100, held: 0, requested: 101 }],
    },
  ]);
  expect((await quote(many)).body.problems).toEqual([]);
  const items = [{ productId: mug, quantity: 101 }];
  const placed = await shop.orders.post('/v1/orders', {
    token: buyer.token,
    body: { items, shipping_address: switzerland },
  });
  const { detail, errors } = placed.body;
  expect(body.problems).toMatchObject([{ code: placed.body.code, detail, errors }]);
});
