// Orders with shipping, taxes and discounts, on real processes. test/pricing/ tests the calculation itself.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { booksOf } from './payment-books.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let mug: string;
let book: string;
let voucher: string;
let standard: string;
let express: string;
const germany = { street_address: 'Lindenweg 4', city: 'Berlin', postal_code: '10115', country: 'DE' };

beforeAll(async () => {
  const environment = {
    TAXES: 'included',
    SHOP_COUNTRY: 'DE',
    PAYMENTS: 'required',
    HOLD_ORDERS: '0',
    HOLD_UNITS: '0',
  };
  shop = await startShop({ environment });
  customer = await shop.customer();
  mug = await shop.product({ name: 'Mug', price: 14.5, stock: 1_000, weight: 0.4 });
  book = await shop.product({
    name: 'Book',
    price: 20,
    stock: 1_000,
    weight: 1,
    taxCategory: 'reduced',
    brand: 'Press',
  });
  voucher = await shop.product({ name: 'Voucher', price: 10, stock: 1_000, shipped: false });
  await shop.configure('tax-rates', { country: 'DE', rate: 19, name: 'MwSt.' });
  await shop.configure('tax-rates', { country: 'DE', category: 'reduced', rate: 7, name: 'MwSt.' });
  const method = {
    name: { de: 'Standard' },
    countries: ['DE', 'AT'],
    price: 4.9,
    freeFrom: 60,
    days: { from: 2, to: 4 },
  };
  standard = await shop.configure('shipping-methods', method);
  express = await shop.configure('shipping-methods', {
    name: { de: 'Express' },
    countries: ['DE'],
    price: 12.9,
    pricePerKilogram: 1,
  });
  await shop.configure('discounts', { name: 'Welcome', code: 'WELCOME10', kind: 'percent', value: 10, minimum: 30 });
  await shop.configure('discounts', { name: 'Two', code: 'TWO', kind: 'amount', value: 2, uses: 5, usesPerAccount: 2 });
});
afterAll(() => shop.stop());

function order(items: Readonly<Record<string, number>>, more: object = {}, who = customer): Promise<TestAnswer> {
  const lines = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
  const body = { items: lines, shipping_address: germany, ...more };
  return shop.orders.post('/v1/orders', { token: who.token, body });
}

const pay = (id: string, amount: number) =>
  shop.orders.post(`/v1/orders/${id}/payments`, {
    token: shop.staff.token,
    body: { reference: `pay ${id}`, amount, currency: 'EUR' },
  });

async function eventOf(id: string, type: string): Promise<Record<string, unknown>> {
  const { database } = shop.services.service('orders');
  const { rows } = await database.query('SELECT data FROM outbox WHERE subject = $1 AND type = $2', [id, type]);
  return rows[0]?.data;
}

it('an order shows shipping, discounts and the taxes that its prices contain, and the event has them', async () => {
  const { status, body } = await order({ [mug]: 2, [book]: 1 }, { discountCode: ' welcome 10 ' });
  expect(status).toBe(201);
  // 49.00 less 10 % = 44.10, of which mugs 26.10 and the book 18.00; shipping 4.90.
  // 19 % in 26.10 + 4.90 = 31.00: 4.9496 → 4.95; 7 % in 18.00: 1.1776 → 1.18.
  expect(body).toMatchObject({
    itemsSummary: [
      { productId: mug, quantity: 2, unitPrice: 14.5, lineTotal: 29, discount: 2.9, taxRate: 19, tax: 4.17 },
      { productId: book, quantity: 1, unitPrice: 20, lineTotal: 20, discount: 2, taxRate: 7, tax: 1.18 },
    ],
    shipping: {
      methodId: standard,
      name: { de: 'Standard' },
      days: { from: 2, to: 4 },
      price: 4.9,
      taxRate: 19,
      tax: 0.78,
    },
    discounts: [{ name: 'Welcome', code: 'WELCOME10', amount: 4.9 }],
    discountTotal: 4.9,
    taxes: [
      { name: 'MwSt.', rate: 19, base: 26.05, amount: 4.95 },
      { name: 'MwSt.', rate: 7, base: 16.82, amount: 1.18 },
    ],
    taxTotal: 6.13,
    pricesIncludeTax: true,
    totalCost: 49,
  });
  expect((await shop.view(customer, body.id)).body).toEqual(body);
  const { itemsSummary, shipping, discounts, discountTotal, taxes, taxTotal, pricesIncludeTax, totalCost } = body;
  expect(await eventOf(body.id, 'order.created.v1')).toMatchObject({
    items: itemsSummary,
    ...{ shipping, discounts, discountTotal, taxes, taxTotal, pricesIncludeTax, totalCost },
  });
});

it('a projection of a list has the members of the pricing', async () => {
  const { body } = await order({ [mug]: 1 });
  const path = `/v1/orders?id=${body.id}&fields=shipping,taxTotal,totalCost`;
  const { body: page } = await shop.orders.get(path, { token: customer.token });
  expect(page.items).toEqual([{ shipping: body.shipping, taxTotal: body.taxTotal, totalCost: 19.4 }]);
});

it('an order is sent with the chosen method, which costs its weight, and above an amount with the free one', async () => {
  const chosen = await order({ [mug]: 2, [book]: 1 }, { shippingMethodId: express });
  // 1.8 kg: two kilograms begun.
  expect(chosen.body.shipping).toMatchObject({ methodId: express, price: 14.9 });
  const free = await order({ [mug]: 2, [book]: 2 });
  expect(free.body).toMatchObject({ shipping: { methodId: standard, price: 0 }, totalCost: 69 });
});

it('an order of products that are not sent has no shipping', async () => {
  const { status, body } = await order({ [voucher]: 1 });
  expect(status).toBe(201);
  expect(body).not.toHaveProperty('shipping');
  expect(body).toMatchObject({ totalCost: 10, taxTotal: 1.6 });
});

it('an address that no method serves is refused with 422, and the stock is released', async () => {
  const reserved = async () => (await shop.stockOf(mug)).reserved;
  const before = await reserved();
  const { status, body } = await order({ [mug]: 1 }, { shipping_address: { ...germany, country: 'US' } });
  expect({ status, body }).toMatchObject({
    status: 422,
    body: {
      code: 'not-delivered-there',
      detail: 'The shop does not deliver to the country US. It delivers to AT, DE. Nothing was ordered.',
      errors: [{ pointer: '/shipping_address/country', countries: ['AT', 'DE'] }],
    },
  });
  const austria = await order(
    { [mug]: 1 },
    { shippingMethodId: express, shipping_address: { ...germany, country: 'AT' } },
  );
  expect(austria.body).toMatchObject({ code: 'not-delivered-there', errors: [{ pointer: '/shippingMethodId' }] });
  expect(await reserved()).toBe(before);
});

it('a code that does not apply is refused with 409, the reason and what is missing', async () => {
  const few = await order({ [mug]: 2 }, { discountCode: 'WELCOME10' });
  expect({ status: few.status, body: few.body }).toMatchObject({
    status: 409,
    body: {
      code: 'discount-not-applicable',
      detail: 'The code WELCOME10 is for orders from 30.00 EUR; 1.00 EUR are missing. Nothing was ordered.',
      errors: [{ pointer: '/discountCode', minimum: 30, missing: 1 }],
    },
  });
  const unknown = await order({ [mug]: 2 }, { discountCode: 'NOBODY' });
  expect({ status: unknown.status, body: unknown.body }).toMatchObject({
    status: 409,
    body: { code: 'discount-not-applicable', detail: 'There is no discount with this code. Nothing was ordered.' },
  });
});

it('an account can guess 20 codes, and then gets 429', async () => {
  const guesser = await shop.customer();
  const guess = () => order({ [mug]: 1 }, { discountCode: 'GUESS' }, guesser);
  for (let count = 0; count < 20; count += 1) expect((await guess()).status).toBe(409);
  const { status, headers } = await guess();
  expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
  // A code that exists is not affected.
  expect((await order({ [book]: 2 }, { discountCode: 'WELCOME10' }, guesser)).status).toBe(201);
});

it('of 30 concurrent orders exactly as many use a discount as it has uses, and a cancellation gives one back', async () => {
  const discount = { name: 'Five', code: 'FIVE', kind: 'amount', value: 5, uses: 5 };
  const id = await shop.configure('discounts', discount);
  const buyers = await Promise.all(Array.from({ length: 30 }, () => shop.customer()));
  const answers = await Promise.all(buyers.map((buyer) => order({ [mug]: 1 }, { discountCode: 'FIVE' }, buyer)));
  const placed = answers.filter(({ status }) => status === 201);
  expect(placed).toHaveLength(5);
  for (const { body } of placed) expect(body).toMatchObject({ discountTotal: 5, totalCost: 14.4 });
  for (const { status, body } of answers.filter((answer) => answer.status !== 201))
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { code: 'discount-not-applicable', errors: [{ detail: 'is used up' }] },
    });
  const used = async () => (await shop.orders.get(`/v1/discounts/${id}`, { token: shop.staff.token })).body.used;
  expect(await used()).toBe(5);

  const index = answers.findIndex(({ status }) => status === 201);
  const owner = buyers[index] ?? customer;
  const cancelled = String(answers[index]?.body.id);
  const twice = await Promise.all([shop.act(owner, cancelled, 'cancel'), shop.act(owner, cancelled, 'cancel')]);
  expect(twice.map(({ status }) => status)).toEqual([200, 200]);
  expect(await used()).toBe(4);
  expect((await order({ [mug]: 1 }, { discountCode: 'FIVE' })).status).toBe(201);
  expect((await order({ [mug]: 1 }, { discountCode: 'FIVE' })).status).toBe(409);
});

it('an account uses a discount as often as the discount permits', async () => {
  const buyer = await shop.customer();
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => order({ [mug]: 1 }, { discountCode: 'TWO' }, buyer)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
});

it('a partial cancellation pays back the exact share, and the rest adds up', async () => {
  const { body: placed } = await order({ [mug]: 3, [book]: 1, [voucher]: 1 }, { discountCode: 'WELCOME10' });
  // 73.50 less 7.35; shipping is free from 60.00.
  expect(placed).toMatchObject({ totalCost: 66.15, discountTotal: 7.35 });
  expect((await pay(placed.id, 66.15)).status).toBe(200);
  const cancel = (lines: object) => shop.act(customer, placed.id, 'cancel', { body: { lines } });
  const first = (await cancel([{ productId: mug, quantity: 1 }])).body;
  expect(first).toMatchObject({
    itemsSummary: [
      { quantity: 2, cancelledQuantity: 1, lineTotal: 29, discount: 2.9 },
      { quantity: 1, discount: 2 },
      { quantity: 1, discount: 1 },
    ],
    discountTotal: 5.9,
    totalCost: 53.1,
    payment: { refundDue: 13.05 },
  });
  expect(await eventOf(placed.id, 'order.lines-cancelled.v1')).toMatchObject({
    totalCost: 53.1,
    discountTotal: 5.9,
    refund: { amount: 13.05 },
  });
  await cancel([{ productId: book, quantity: 1 }]);
  const last = (await cancel([{ productId: mug, quantity: 2 }])).body;
  // Only the voucher is left, so nothing is sent any more.
  expect(last).not.toHaveProperty('shipping');
  expect(last).toMatchObject({ totalCost: 9, payment: { refundDue: 57.15 } });
  expect((await shop.act(customer, placed.id, 'cancel')).body).toMatchObject({ payment: { refundDue: 66.15 } });
  const books = await booksOf(shop.services.service('orders').database, [placed.id]);
  expect(books).toMatchObject({ faults: [], received: 6615, owed: 6615 });
});

it('a change of the settings is in force within two seconds, and placed orders keep their prices', async () => {
  const { body: before } = await order({ [mug]: 1 });
  const version = async (id: string): Promise<number> => {
    const { database } = shop.services.service('orders');
    return (await database.query("SELECT pricing -> 'version' AS version FROM orders WHERE id = $1", [id])).rows[0]
      .version;
  };
  const patch = (price: number) =>
    shop.orders.patch(`/v1/shipping-methods/${standard}`, {
      token: shop.staff.token,
      body: { price },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    });
  expect((await patch(5.9)).status).toBe(200);
  await eventually(
    async () => expect((await order({ [mug]: 1 })).body).toMatchObject({ shipping: { price: 5.9 } }),
    2_000,
  );
  const { body: after } = await order({ [mug]: 1 });
  expect(await version(after.id)).toBeGreaterThan(await version(before.id));
  expect((await shop.view(customer, before.id)).body).toMatchObject({ shipping: { price: 4.9 } });
  await patch(4.9);
  await eventually(
    async () => expect((await order({ [mug]: 1 })).body).toMatchObject({ shipping: { price: 4.9 } }),
    2_000,
  );
});
