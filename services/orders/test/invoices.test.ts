// The invoices of orders that ship, and the credit notes of returns: their numbers, their sums, and who sees them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import type { components } from '../src/generated.ts';
import { listInvoices, showInvoice } from '../src/operator/index.ts';
import { type ReturningShop, returningShop } from './returned-orders.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let returns: ReturningShop;
let mug: string;
let book: string;
const year = new Date().getUTCFullYear();
const address = {
  recipient: 'Ada Lovelace',
  street_address: 'Lindenweg 4',
  city: 'Berlin',
  postal_code: '10115',
  country: 'DE',
};

beforeAll(async () => {
  const environment = {
    ...{ TAXES: 'included', SHOP_COUNTRY: 'DE', HOLD_ORDERS: '0', HOLD_UNITS: '0', RETURN_SHIPPING: 'refund' },
    ...{ SELLER_NAME: 'Acme GmbH', SELLER_ADDRESS: 'Lindenweg 4; 10115 Berlin', SELLER_TAX_ID: 'DE123456789' },
    INVOICE_PREFIX: 'A-',
  };
  shop = await startShop({ environment });
  customer = await shop.customer();
  returns = returningShop(shop, customer);
  mug = await shop.product({ name: 'Mug', price: 14.5, stock: 1_000 });
  book = await shop.product({ name: 'Book', price: 20, stock: 1_000, taxCategory: 'reduced' });
  await shop.configure('tax-rates', { country: 'DE', rate: 19, name: 'MwSt.' });
  await shop.configure('tax-rates', { country: 'DE', category: 'reduced', rate: 7, name: 'MwSt.' });
  await shop.configure('shipping-methods', { name: { de: 'Standard' }, price: 4.9 });
  await shop.configure('discounts', { name: 'Welcome', code: 'WELCOME10', kind: 'percent', value: 10 });
});
afterAll(() => shop.stop());

type Invoices = components['schemas']['OrderInvoices'];

async function invoiceOf(orderId: string, who = customer): Promise<TestAnswer & { readonly invoices: Invoices }> {
  const answer = await shop.orders.get(`/v1/orders/${orderId}/invoice`, { token: who.token });
  return { ...answer, invoices: answer.body as never };
}

const numberOf = (text = ''): number => Number(text.split('-').at(-1));

it('an order that ships has an invoice with the sums of the order, and its event names the number', async () => {
  const id = await returns.ordered(
    { [mug]: 2, [book]: 1 },
    { shipping_address: address, discountCode: 'WELCOME10' },
    'paid',
  );
  const before = await invoiceOf(id);
  expect(before).toMatchObject({
    status: 404,
    body: {
      code: 'not-found',
      detail: 'There is no order with this id that has an invoice. It gets one when it ships.',
    },
  });
  for (const step of ['process', 'ship']) await shop.act(shop.staff, id, step);
  const order = (await shop.view(customer, id)).body;
  const { status, body, headers, invoices } = await invoiceOf(id);
  expect(status).toBe(200);
  const { itemsSummary, shipping, discounts, discountTotal, taxes, taxTotal, pricesIncludeTax, totalCost } = order;
  expect(body).toEqual({
    invoice: {
      kind: 'invoice',
      number: expect.stringMatching(new RegExp(`^A-${year}-\\d{6}$`)),
      issuedAt: expect.any(String),
      seller: { name: 'Acme GmbH', address: ['Lindenweg 4', '10115 Berlin'], taxId: 'DE123456789' },
      buyer: { name: 'Ada Lovelace', address },
      orderId: id,
      orderedAt: order.createdAt,
      lines: itemsSummary,
      ...{ shipping, discounts, discountTotal, taxes, taxTotal, pricesIncludeTax },
      total: totalCost,
      currency: 'EUR',
    },
    creditNotes: [],
  });
  expect(totalCost).toBe(49);
  const { database } = shop.services.service('orders');
  const { rows } = await database.query(
    "SELECT data ->> 'invoiceNumber' AS number FROM outbox WHERE subject = $1 AND type = 'order.shipped.v1'",
    [id],
  );
  expect(rows).toEqual([{ number: invoices.invoice.number }]);
  const again = await shop.orders.get(`/v1/orders/${id}/invoice`, {
    token: customer.token,
    headers: { 'If-None-Match': String(headers.etag) },
  });
  expect(again.status).toBe(304);
});

it('staff see an invoice, and another customer gets the same response as for an order that does not exist', async () => {
  const id = await returns.ordered({ [mug]: 1 }, {}, 'shipped');
  expect((await invoiceOf(id, shop.staff)).status).toBe(200);
  const [foreign, absent] = [await invoiceOf(id, await shop.customer()), await invoiceOf(newId())];
  expect(foreign.status).toBe(404);
  expect(foreign.body.detail).toBe(absent.body.detail);
});

it('cancelled units are on no invoice', async () => {
  const id = await returns.ordered({ [mug]: 3, [book]: 1 }, {}, 'paid');
  const lines = [
    { productId: mug, quantity: 1 },
    { productId: book, quantity: 1 },
  ];
  await shop.act(customer, id, 'cancel', { body: { lines } });
  for (const step of ['process', 'ship']) await shop.act(shop.staff, id, step);
  const { invoice } = (await invoiceOf(id)).invoices;
  // 29.00 + 4.90; 19 % in 33.90: 5.4126 → 5.41.
  expect(invoice).toMatchObject({ total: 33.9, taxTotal: 5.41, taxes: [{ rate: 19, base: 28.49, amount: 5.41 }] });
  expect(invoice.lines).toEqual([expect.objectContaining({ productId: mug, quantity: 2 })]);
});

it('an event reports each document once, after the event of its cause and with a version of its own', async () => {
  const id = await returns.ordered({ [mug]: 2 });
  const returned = await returns.requested(id, { [mug]: 1 });
  await returns.act(shop.staff, returned, 'approve');
  expect((await returns.receive(returned, { [mug]: 1 })).status).toBe(200);
  const { invoice, creditNotes } = (await invoiceOf(id)).invoices;
  const { database } = shop.services.service('orders');
  const { rows } = await database.query(
    `SELECT type, CASE type WHEN 'invoice.issued.v1' THEN data END AS data,
       sequence > previous_sequence AS "hasVersion", (SELECT version FROM orders WHERE id::text = $1) = sequence AS "isLast"
     FROM outbox WHERE subject = $1 ORDER BY sequence`,
    [id],
  );
  const documents = [invoice, ...creditNotes].map((document) => {
    const { number, kind, orderId, total, currency, issuedAt, invoiceNumber } = document;
    const about = { number, kind, orderId, accountId: customer.accountId, total, currency, issuedAt };
    return invoiceNumber === undefined ? about : { ...about, invoiceNumber };
  });
  const other = { data: null, hasVersion: true, isLast: false };
  expect(rows.slice(-5)).toEqual([
    { type: 'order.shipped.v1', ...other },
    { type: 'invoice.issued.v1', data: documents[0], hasVersion: true, isLast: false },
    { type: 'order.delivered.v1', ...other },
    { type: 'order.returned.v1', ...other },
    { type: 'invoice.issued.v1', data: documents[1], hasVersion: true, isLast: true },
  ]);
});

it('a repeated request with the same key issues no further invoice', async () => {
  const id = await returns.ordered({ [mug]: 1 }, {}, 'paid');
  await shop.act(shop.staff, id, 'process');
  const headers = { 'Idempotency-Key': newId() };
  for (let time = 0; time < 2; time += 1) {
    expect((await shop.act(shop.staff, id, 'ship', { headers })).status).toBe(200);
  }
  const { database } = shop.services.service('orders');
  const { rows } = await database.query('SELECT number FROM invoices WHERE order_id = $1', [id]);
  expect(rows).toHaveLength(1);
});

it('credit notes of the parts of an order add up to its invoice exactly', async () => {
  const id = await returns.ordered({ [mug]: 3, [book]: 1 }, { discountCode: 'WELCOME10' });
  const parts = [{ [mug]: 1 }, { [mug]: 1, [book]: 1 }, { [mug]: 1 }];
  for (const part of parts) {
    const returned = await returns.requested(id, part);
    await returns.act(shop.staff, returned, 'approve');
    const { status, text } = await returns.receive(returned, part);
    expect({ status, text }).toMatchObject({ status: 200 });
    const { database } = shop.services.service('orders');
    const { rows } = await database.query(
      "SELECT data ->> 'creditNoteNumber' AS number FROM outbox WHERE subject = $1 AND type = 'return.received.v1'",
      [returned],
    );
    expect((await invoiceOf(id)).invoices.creditNotes.at(-1)).toMatchObject({ returnId: returned, ...rows[0] });
  }
  const { invoice, creditNotes } = (await invoiceOf(id)).invoices;
  expect(creditNotes).toHaveLength(3);
  const cents = (amount = 0): number => Math.round(amount * 100);
  const sumOf = (amountOf: (note: Invoices['invoice']) => number | undefined): number =>
    creditNotes.reduce((sum, note) => sum + cents(amountOf(note)), 0);
  for (const member of ['total', 'taxTotal', 'discountTotal'] as const) {
    expect(sumOf((note) => note[member])).toBe(cents(invoice[member]));
  }
  expect(invoice.taxes).toHaveLength(2);
  for (const { rate, base, amount } of invoice.taxes ?? []) {
    const taxOf = (note: Invoices['invoice']) => note.taxes?.find((tax) => tax.rate === rate);
    expect(sumOf((note) => taxOf(note)?.base)).toBe(cents(base));
    expect(sumOf((note) => taxOf(note)?.amount)).toBe(cents(amount));
  }
  const [first, , last] = creditNotes;
  expect(first).toMatchObject({
    kind: 'credit-note',
    number: expect.stringMatching(new RegExp(`^A-CN-${year}-\\d{6}$`)),
    invoiceNumber: invoice.number,
    seller: invoice.seller,
    lines: [{ productId: mug, quantity: 1, unitPrice: 14.5, lineTotal: 14.5, discount: 1.45 }],
    total: 13.05,
  });
  expect(first).not.toHaveProperty('shipping');
  // Shipping is paid back with the last unit.
  expect(last).toMatchObject({ shipping: { price: 4.9 }, total: 17.95 });
  expect(numberOf(last?.number) - numberOf(first?.number)).toBe(2);
  const environment = { DATABASE_URL: shop.services.database.urls.orders };
  expect(await showInvoice(environment, invoice.number)).toEqual(invoice);
  expect(await showInvoice(environment, first?.number ?? '')).toEqual(first);
  expect(await showInvoice(environment, `${year}-999999`)).toBeUndefined();
  const listed = (await listInvoices(environment, year)).filter(({ orderId }) => orderId === id);
  expect(listed.map(({ number }) => number)).toEqual([invoice, ...creditNotes].map(({ number }) => number));
});

it('the export of an account has the documents of each order as its customer sees them', async () => {
  const other = await shop.customer();
  const { ordered, requested, receive, act } = returningShop(shop, other);
  const [id, without] = [
    await ordered({ [mug]: 2 }, { shipping_address: address }),
    await ordered({ [mug]: 1 }, {}, 'paid'),
  ];
  for (let unit = 0; unit < 2; unit += 1) {
    const returned = await requested(id, { [mug]: 1 });
    await act(shop.staff, returned, 'approve');
    expect((await receive(returned, { [mug]: 1 })).status).toBe(200);
  }
  const { invoice, creditNotes } = (await invoiceOf(id, other)).invoices;
  expect(creditNotes).toHaveLength(2);
  const exported = await shop.internal('orders', `/internal/accounts/${other.accountId}/export`, {});
  const orders = exported.body.items as readonly { id: string; invoices?: unknown }[];
  expect(orders.find((order) => order.id === id)?.invoices).toEqual([invoice, ...creditNotes]);
  expect(orders.find((order) => order.id === without)).not.toHaveProperty('invoices');
});

it('a return of which nothing arrived has no credit note', async () => {
  const id = await returns.ordered({ [mug]: 1 });
  const returned = await returns.requested(id, { [mug]: 1 });
  await returns.act(shop.staff, returned, 'approve');
  expect((await returns.receive(returned, { [mug]: 0 }, false)).status).toBe(200);
  expect((await invoiceOf(id)).invoices.creditNotes).toEqual([]);
});

it('the numbers of a year begin with 1', async () => {
  const { database } = shop.services.service('orders');
  await database.query("INSERT INTO invoice_numbers (kind, year, last) VALUES ('invoice', $1, 41)", [year - 1]);
  await database.query("UPDATE invoice_numbers SET year = year + 1000 WHERE kind = 'invoice' AND year = $1", [year]);
  await database.query('UPDATE invoices SET year = year + 1000 WHERE kind = $1', ['invoice']);
  const id = await returns.ordered({ [mug]: 1 }, {}, 'shipped');
  expect((await invoiceOf(id)).invoices.invoice.number).toBe(`A-${year}-000001`);
});

it('the buyer is removed from documents that are older than INVOICE_YEARS, and from no other', async () => {
  const [old, recent] = [
    await returns.ordered({ [mug]: 1 }, {}, 'shipped'),
    await returns.ordered({ [mug]: 1 }, {}, 'shipped'),
  ];
  const service = shop.services.service('orders');
  const moved = "UPDATE invoices SET issued_at = issued_at - interval '11 years' WHERE order_id = $1";
  await service.database.query(moved, [old]);
  const before = await invoiceOf(old);
  await service.restart();
  await eventually(async () => expect((await invoiceOf(old)).invoices.invoice).not.toHaveProperty('buyer'));
  const after = await invoiceOf(old);
  const { buyer: _, ...rest } = before.invoices.invoice;
  expect(after.invoices.invoice).toEqual(rest);
  expect(after.headers.etag).not.toBe(before.headers.etag);
  expect((await invoiceOf(recent)).invoices.invoice).toHaveProperty('buyer');
});
