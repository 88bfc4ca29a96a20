// The page of an invoice: when a client gets it, its language, its content, and its header fields.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ReturningShop, returningShop } from './returned-orders.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let returns: ReturningShop;
let mug: string;
let orderId: string;
const year = new Date().getUTCFullYear();
const hostile = "\"><script>alert(1)</script><b onclick='x'>&amp;";
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

beforeAll(async () => {
  const environment = {
    ...{ TAXES: 'included', SHOP_COUNTRY: 'DE', HOLD_ORDERS: '0', HOLD_UNITS: '0', RETURN_SHIPPING: 'refund' },
    ...{ SELLER_NAME: `Acme ${hostile}`, SELLER_ADDRESS: `${hostile}; 10115 Berlin`, SELLER_TAX_ID: 'DE123456789' },
  };
  shop = await startShop({ environment });
  customer = await shop.customer();
  returns = returningShop(shop, customer);
  mug = await shop.product({ name: `Mug ${hostile}`, price: 1014.5, stock: 1_000 });
  await shop.configure('tax-rates', { country: 'DE', rate: 19, name: `MwSt. ${hostile}` });
  await shop.configure('shipping-methods', { name: { en: `Standard ${hostile}`, de: 'Standardversand' }, price: 4.9 });
  await shop.configure('discounts', { name: `Welcome ${hostile}`, code: 'WELCOME10', kind: 'percent', value: 10 });
  const address = { recipient: `Ada ${hostile}`, street_address: hostile, city: 'Berlin', country: 'DE' };
  const more = { shipping_address: address, discountCode: 'WELCOME10' };
  orderId = await returns.ordered({ [mug]: 2 }, more);
});
afterAll(() => shop.stop());

const read = (headers: Readonly<Record<string, string>>, id = orderId) =>
  shop.orders.get(`/v1/orders/${id}/invoice`, { token: customer.token, headers });
const page = async (language = 'en', id = orderId): Promise<string> =>
  (await read({ Accept: browser, 'Accept-Language': language }, id)).text;
/** The text of a page: without markup and with ordinary blanks. */
const shown = (html: string): string =>
  html
    .replaceAll(/<style>.*?<\/style>|<[^>]+>/gs, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' :', ':');

it.each([
  [browser, 'text/html; charset=utf-8'],
  ['text/html', 'text/html; charset=utf-8'],
  ['text/*;q=0.9, application/json;q=0.8', 'text/html; charset=utf-8'],
  ['text/html, application/problem+json', 'text/html; charset=utf-8'],
  ['*/*', 'application/json'],
  ['text/html, */*', 'application/json'],
  ['text/html, application/json', 'application/json'],
  ['text/html;q=0.5, application/json;q=0.9', 'application/json'],
  ['text/html;q=0, */*', 'application/json'],
])('a client with Accept: %s gets the invoice as %s', async (accept, type) => {
  const { status, headers } = await read({ Accept: accept });
  expect([status, headers['content-type'], headers.vary]).toEqual([
    200,
    type,
    'Authorization, Accept, Accept-Language',
  ]);
});

it('a client that accepts neither JSON nor HTML gets 406, which names both', async () => {
  const { status, body } = await read({ Accept: 'application/pdf' });
  expect([status, body.code, body.detail]).toEqual([
    406,
    'not-acceptable',
    'Answers are application/json or text/html.',
  ]);
});

it('the page shows seller, buyer, numbers, lines, discount, shipping, taxes and total of the invoice', async () => {
  const { invoice } = (await read({})).body as never as { invoice: { number: string; taxTotal: number } };
  const text = shown(await page());
  for (const part of [
    `Invoice ${invoice.number}`,
    'Tax ID: DE123456789',
    '10115 Berlin',
    'Berlin Germany',
    orderId,
    '2 €1,014.50 19% €2,029.00',
    'Subtotal €2,029.00',
    'Shipping: Standard',
    'Tax 19% €4.90',
    'WELCOME10 ) -€202.90',
    // 1,831.00 with 19 %: 292.34 in it.
    '19% €1,538.66 €292.34',
    'Total €1,831.00',
  ])
    expect(text).toContain(part);
  expect(text).not.toContain('Credit note');
});

it('the page escapes every text of the shop and of the customer', async () => {
  const html = await page();
  expect(html).not.toMatch(/<script|<b |onclick='/);
  // Seller twice and once in the title, its address, the buyer and the street, product, tax, shipping, and discount.
  expect(html.split('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')).toHaveLength(11);
});

it.each([
  ['de', 'de', ['Rechnung', 'Deutschland', '2 1.014,50 € 19 % 2.029,00 €', 'Versand: Standardversand', 'Gesamtbetrag']],
  ['de-CH, en;q=0.5', 'de', ['Rechnung']],
  ['fr-FR, en;q=0.5', 'fr', ['Facture', 'Allemagne', '2 1 014,50 € 19 % 2 029,00 €', 'Total 1 831,00 €']],
  ['it, en-GB;q=0.5', 'en', ['Invoice']],
  ['it', 'en', ['Invoice', 'Germany']],
  ['*', 'en', ['Invoice']],
])('a page for Accept-Language: %s is in %s', async (accepted, language, parts) => {
  const { headers, text } = await read({ Accept: browser, 'Accept-Language': accepted });
  expect(headers['content-language']).toBe(language);
  expect(text).toContain(`<html lang="${language}">`);
  for (const part of parts) expect(shown(text)).toContain(part);
});

it('the dates of the page are days in UTC in its language', async () => {
  const day = (language: string): string =>
    new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(Date.now());
  expect(shown(await page('en'))).toContain(`Date ${day('en')} Shipped ${day('en')} Ordered ${day('en')}`);
  expect(shown(await page('de'))).toContain(`Datum ${day('de')} Lieferdatum ${day('de')}`);
});

it('the policy of the page permits its own style, and nothing else', async () => {
  const { headers, text } = await read({ Accept: browser });
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
  const digest = createHash('sha256').update(style).digest('base64');
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(text).not.toMatch(/ (?:src|href|style)=|url\(|@import/);
});

it('JSON and the page of each language have entity tags of their own, and a client with the page gets 304', async () => {
  const forms = [{}, { Accept: browser }, { Accept: browser, 'Accept-Language': 'de' }];
  const tags = await Promise.all(forms.map(async (headers) => String((await read(headers)).headers.etag)));
  expect(new Set(tags).size).toBe(3);
  const again = (headers: Readonly<Record<string, string>>, tag = '') => read({ ...headers, 'If-None-Match': tag });
  expect((await again(forms[1] ?? {}, tags[1])).status).toBe(304);
  expect((await again(forms[1] ?? {}, tags[2])).status).toBe(200);
  expect((await again(forms[0] ?? {}, tags[1])).status).toBe(200);
});

it('each credit note is on a sheet of its own, names its invoice, and the tag of the page changes', async () => {
  const id = await returns.ordered({ [mug]: 2 });
  const before = await read({ Accept: browser }, id);
  expect(before.text.split('<article')).toHaveLength(2);
  for (const part of [{ [mug]: 1 }, { [mug]: 1 }]) {
    const returned = await returns.requested(id, part);
    await returns.act(shop.staff, returned, 'approve');
    expect((await returns.receive(returned, part)).status).toBe(200);
  }
  const { invoice } = (await read({}, id)).body as never as { invoice: { number: string } };
  const after = await read({ Accept: browser }, id);
  const [, ...sheets] = after.text.split('<article').map(shown);
  expect(sheets).toHaveLength(3);
  expect(sheets[1]).toContain(`Credit note CN-${year}-`);
  expect(sheets[1]).toContain(`For invoice ${invoice.number}`);
  expect(sheets[1]).toContain('Total credit €1,014.50');
  expect(sheets[2]).toContain('Total credit €1,019.40');
  expect(after.headers.etag).not.toBe(before.headers.etag);
});

it('the page of an invoice without tax has the sentence about reverse charge in its language', async () => {
  const id = await returns.ordered({ [mug]: 1 }, {}, 'shipped');
  const { database } = shop.services.service('orders');
  const exempt = JSON.stringify({ taxExempt: true, taxExemption: 162.76, taxes: [], taxTotal: 0, note: 'Reverse' });
  await database.query('UPDATE invoices SET body = (body::jsonb || $2::jsonb)::json WHERE order_id = $1', [id, exempt]);
  const english = shown(await page('en', id));
  expect(english).toContain('Reverse charge: the customer owes the tax.');
  expect(english).toContain('Tax not charged -€162.76');
  expect(shown(await page('de', id))).toContain('Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).');
  expect(shown(await page('fr', id))).toContain('Autoliquidation: la taxe est due par le client.');
});

it('the page of an invoice whose buyer was removed shows none', async () => {
  const id = await returns.ordered({ [mug]: 1 }, {}, 'shipped');
  const { database } = shop.services.service('orders');
  await database.query("UPDATE invoices SET body = (body::jsonb - 'buyer')::json WHERE order_id = $1", [id]);
  expect(shown(await page('en', id))).not.toContain('Billed to');
});

it('a browser gets a problem for an order without an invoice', async () => {
  const id = await returns.ordered({ [mug]: 1 }, {}, 'paid');
  const { status, body, headers } = await read({ Accept: browser }, id);
  expect([status, body.code, headers['content-type']]).toEqual([404, 'not-found', 'application/problem+json']);
});
