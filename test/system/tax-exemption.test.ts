// A customer with a tax id of another country: the account, its orders and quotes, the invoice and the credit note.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { booksOf } from '../../services/orders/test/payment-books.ts';
import { type ReturningShop, returningShop } from '../../services/orders/test/returned-orders.ts';
import { type Customer, startShop, type TestShop } from '../../services/orders/test/shop.ts';

const austrian = { country: 'AT', value: 'ATU12345678' };
const toAustria = { street_address: 'Ring 1', city: 'Wien', postal_code: '1010', country: 'AT' };

let shop: TestShop;
let staff: string;
let mug: string;
let book: string;

beforeAll(async () => {
  const environment = {
    ...{ TAXES: 'included', SHOP_COUNTRY: 'DE', HOLD_ORDERS: '0', HOLD_UNITS: '0', RETURN_SHIPPING: 'refund' },
    ...{ SELLER_NAME: 'Acme GmbH', SELLER_TAX_ID: 'DE123456789', PAYMENTS: 'required' },
  };
  shop = await startShop({ environment }, ['accounts']);
  staff = await shop.services.issuer.sign({ accountId: newId(), scopes: ['accounts:support'] });
  mug = await shop.product({ name: 'Mug', price: 11.9, stock: 1_000 });
  book = await shop.product({ name: 'Book', price: 20, stock: 1_000, taxCategory: 'reduced' });
  for (const [country, rate, reduced] of [
    ['DE', 19, 7],
    ['AT', 20, 10],
    ['FR', 20, 5.5],
  ]) {
    await shop.configure('tax-rates', { country, rate, name: 'VAT' });
    await shop.configure('tax-rates', { country, category: 'reduced', rate: reduced, name: 'VAT' });
  }
  await shop.configure('shipping-methods', { name: { de: 'Standard' }, price: 5.95 });
  await shop.configure('discounts', { name: 'Ten', code: 'TEN', kind: 'percent', value: 10 });
});
afterAll(() => shop.stop());

const accounts = () => shop.services.service('accounts').client;
const database = () => shop.services.service('orders').database;

async function setTaxId({ accountId }: Customer, taxId: object | null): Promise<void> {
  const body = { tax_id: taxId, reason: 'Confirmed by VIES' };
  const answer = await accounts().post(`/v1/accounts/${accountId}/set-tax-id`, { token: staff, body });
  expect(answer.status).toBe(204);
  await eventually(async () => {
    const { rows } = await database().query('SELECT tax_id FROM customers WHERE account_id = $1', [accountId]);
    expect(rows).toEqual([{ tax_id: taxId }]);
  });
}

async function customerWith(taxId: object | null): Promise<Customer> {
  const body = { email: `${newId()}@example.com`, name: 'Ada Lovelace', password: 'a long and quiet river' };
  const { id: accountId } = (await accounts().post('/v1/accounts', { body })).body;
  const customer = { accountId, token: await shop.services.issuer.sign({ accountId, scopes: [] }) };
  await setTaxId(customer, taxId);
  return customer;
}

const bodyOf = (more: object = {}) => ({
  items: [
    { productId: mug, quantity: 3 },
    { productId: book, quantity: 1 },
  ],
  shipping_address: toAustria,
  ...more,
});
const quote = (who: Customer | undefined, more: object = {}): Promise<TestAnswer> =>
  shop.orders.post('/v1/quotes', { body: bodyOf(more), ...(who && { token: who.token }) });
const order = (who: Customer, more: object = {}): Promise<TestAnswer> =>
  shop.orders.post('/v1/orders', { token: who.token, body: bodyOf(more) });
const invoicesOf = async (orderId: string, who: Customer) =>
  (await shop.orders.get(`/v1/orders/${orderId}/invoice`, { token: who.token })).body as unknown as {
    readonly invoice: Readonly<Record<string, unknown>>;
    readonly creditNotes: readonly Readonly<Record<string, number>>[];
  };

it('an order of a customer with a tax id of another country that is sent abroad costs the net price, and a quote says the same', async () => {
  const customer = await customerWith(austrian);
  // 35.70 + 5.95 contain 20 %: 6.94; 20.00 contains 10 %: 1.82. Together 61.65.
  const exempt = {
    taxes: [],
    taxTotal: 0,
    pricesIncludeTax: true,
    taxExempt: true,
    taxExemption: 8.76,
    totalCost: 52.89,
  };
  const quoted = await quote(customer);
  expect({ status: quoted.status, body: quoted.body }).toMatchObject({ status: 200, body: exempt });
  const placed = await order(customer, { quote: quoted.body.quote });
  expect({ status: placed.status, body: placed.body }).toMatchObject({ status: 201, body: exempt });
  expect((await shop.view(customer, placed.body.id)).body).toEqual(placed.body);
  const { rows } = await database().query("SELECT data FROM outbox WHERE subject = $1 AND type = 'order.created.v1'", [
    placed.body.id,
  ]);
  expect(rows[0]?.data).toMatchObject(exempt);
  // Anybody else pays the tax for the same address.
  expect((await quote(undefined)).body).toMatchObject({ taxTotal: 8.76, totalCost: 61.65 });
});

it.each([
  ['a tax id of the country of the shop', { country: 'DE', value: 'DE123456789' }, 'AT', 20],
  ['no tax id', null, 'AT', 20],
  ['a tax id of another country, but goods that stay in the country of the shop', austrian, 'DE', 19],
  ['a tax id of another country, but no address', austrian, undefined, 19],
])('a customer with %s pays the tax', async (_, taxId, country, rate) => {
  const customer = await customerWith(taxId);
  const { status, body } = await order(customer, { shipping_address: country && { ...toAustria, country } });
  expect([status, body.totalCost]).toEqual([201, 61.65]);
  expect(body.taxes).toContainEqual(expect.objectContaining({ rate }));
  expect(body).not.toHaveProperty('taxExempt');
});

it('a customer pays no tax for goods that are sent to a third country', async () => {
  const customer = await customerWith(austrian);
  // 41.65 contains 20 %: 6.94; 20.00 contains 5.5 %: 1.04.
  const { body } = await order(customer, { shipping_address: { ...toAustria, country: 'FR' } });
  expect(body).toMatchObject({ taxExempt: true, taxExemption: 7.98, totalCost: 53.67 });
});

it('a tax id that is set or removed after a quote leaves the price of the quote: the order is refused with what changed', async () => {
  const customer = await customerWith(null);
  const taxed = (await quote(customer)).body;
  await setTaxId(customer, austrian);
  const refused = await order(customer, { quote: taxed.quote });
  expect({ status: refused.status, body: refused.body }).toMatchObject({
    status: 409,
    body: {
      code: 'price-changed',
      detail: 'The order costs 52.89, not 61.65. Nothing was ordered.',
      errors: expect.arrayContaining([expect.objectContaining({ pointer: '/quote', part: 'tax', old: 8.76, new: 0 })]),
    },
  });
  const exempt = (await quote(customer)).body;
  await setTaxId(customer, null);
  expect((await order(customer, { quote: exempt.quote })).status).toBe(409);
});

it('an order that is free of tax keeps its price and its tax id from the order to the credit notes, which add up to the invoice', async () => {
  const customer = await customerWith(austrian);
  const returns: ReturningShop = returningShop(shop, customer);
  const id = await returns.ordered(
    { [mug]: 3, [book]: 1 },
    { shipping_address: toAustria, discountCode: 'TEN' },
    'paid',
  );
  // What changes after the order has no effect on it.
  await setTaxId(customer, null);
  for (const step of ['process', 'ship', 'deliver']) expect((await shop.act(shop.staff, id, step)).status).toBe(200);
  const { body: shipped } = await shop.view(customer, id);
  const { invoice } = await invoicesOf(id, customer);
  expect(invoice).toMatchObject({
    buyer: { name: 'Ada Lovelace', address: toAustria, taxId: 'ATU12345678' },
    seller: { taxId: 'DE123456789' },
    taxes: [],
    taxExempt: true,
    total: shipped.totalCost,
    note: 'Reverse charge: the customer owes the tax.',
  });
  const headers = { Accept: 'text/html', 'Accept-Language': 'en' };
  const page = await shop.orders.get(`/v1/orders/${id}/invoice`, { token: customer.token, headers });
  expect(page.text).toMatch(/Billed to.*Ada Lovelace.*Tax ID: <bdi>ATU12345678<.*Reverse charge: the customer owes/s);
  for (const part of [{ [mug]: 1 }, { [mug]: 1, [book]: 1 }, { [mug]: 1 }]) {
    const returned = await returns.requested(id, part);
    await returns.act(shop.staff, returned, 'approve');
    expect((await returns.receive(returned, part)).status).toBe(200);
  }
  const { creditNotes } = await invoicesOf(id, customer);
  expect(creditNotes).toHaveLength(3);
  for (const note of creditNotes)
    expect(note).toMatchObject({ taxExempt: true, note: invoice.note, buyer: { taxId: 'ATU12345678' } });
  const cents = (amount: unknown): number => Math.round(Number(amount) * 100);
  for (const member of ['total', 'taxExemption', 'discountTotal'] as const)
    expect(creditNotes.reduce((sum, note) => sum + cents(note[member]), 0)).toBe(cents(invoice[member]));
  expect((await shop.view(customer, id)).body.payment).toMatchObject({ refundDue: shipped.totalCost });
  const paid = cents(shipped.totalCost);
  expect(await booksOf(database(), [id])).toEqual({ received: paid, kept: 0, owed: paid, paidBack: 0, faults: [] });
});

it('the invoice of an order that is taxed has the tax id that the customer has when it ships', async () => {
  const customer = await customerWith(null);
  const { body: placed } = await order(customer);
  await setTaxId(customer, { country: 'DE', value: 'DE987654321' });
  const money = { reference: `pay ${placed.id}`, amount: placed.totalCost, currency: 'EUR' };
  await shop.act(shop.staff, placed.id, 'payments', { body: money });
  for (const step of ['process', 'ship']) expect((await shop.act(shop.staff, placed.id, step)).status).toBe(200);
  const { invoice } = await invoicesOf(placed.id, customer);
  expect(invoice).toMatchObject({ buyer: { taxId: 'DE987654321' }, taxTotal: 8.76 });
  expect(invoice).not.toHaveProperty('note');
});

it('an event of the previous release, which lacks the tax id, keeps it, and an older event does not bring a former one back', async () => {
  const customer = await customerWith(austrian);
  const { accountId } = customer;
  const send = (sequence: number, data: object) =>
    shop.services.service('accounts').database.query(
      `INSERT INTO outbox (id, type, subject, sequence, request_id, data)
       VALUES ($1, 'account.updated.v1', $2, $3, 'test', $4)`,
      [newId(), accountId, sequence, JSON.stringify({ accountId, email: 'new@example.org', ...data })],
    );
  const stored = async (name: string) => {
    await eventually(async () => {
      const { rows } = await database().query('SELECT name FROM customers WHERE account_id = $1', [accountId]);
      expect(rows).toEqual([{ name }]);
    });
    return (await database().query('SELECT tax_id FROM customers WHERE account_id = $1', [accountId])).rows[0]?.tax_id;
  };
  await send(20, { name: 'Without' });
  expect(await stored('Without')).toEqual(austrian);
  await send(19, { name: 'Late', taxId: { country: 'FR', value: 'FR1' } });
  await send(21, { name: 'Newer' });
  expect(await stored('Newer')).toEqual(austrian);
});

it('the erasure of an account deletes the tax id of the customer and of delivered orders, and the invoice keeps it', async () => {
  const customer = await customerWith(austrian);
  const returns = returningShop(shop, customer);
  const id = await returns.ordered({ [mug]: 1 }, { shipping_address: toAustria });
  await database().query('INSERT INTO erased_accounts (account_id) VALUES ($1)', [customer.accountId]);
  await eventually(async () => {
    const { rows } = await database().query(
      `SELECT tax_id, (SELECT count(*)::int FROM customers WHERE account_id = $2) AS customers FROM orders WHERE id = $1`,
      [id, customer.accountId],
    );
    expect(rows).toEqual([{ tax_id: null, customers: 0 }]);
  }, 40_000);
  const { invoice } = await invoicesOf(id, shop.staff);
  expect(invoice).toMatchObject({ buyer: { taxId: 'ATU12345678' } });
});
