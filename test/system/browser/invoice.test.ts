// The page of an invoice and a credit note behind the gateway, in a real browser and on paper.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchShop, runShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { findings } from './accessibility.ts';
import { startChromium } from './chromium.ts';
import { screens } from './screens.ts';

const password = 'a long and quiet river';
const name = 'Kim <img src=x onerror=alert(1)> Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh';

let folder: string;
let shop: StartedShop;
let browser: Browser;
let token: string;
let address: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-invoice-'));
  const environment = { SELLER_NAME: 'Acme GmbH', SELLER_ADDRESS: 'Lindenweg 4; 10115 Berlin', SELLER_TAX_ID: 'DE1' };
  shop = await launchShop({ dataDir: join(folder, 'data'), environment });
  [browser] = await Promise.all([startChromium(), shop.ready]);
  const [customer, staff] = [await loggedIn(), await loggedIn('orders:fulfil')];
  token = customer.token;
  const { items } = await customer.client.products.page({ inStock: true }, { limit: 2 });
  const lines = items.map(({ id }) => ({ productId: id, quantity: 1 }));
  const { id } = await customer.client.orders.place({
    items: lines,
    shipping_address: { recipient: name, street_address: 'x'.repeat(90), city: 'Berlin', country: 'DE' },
    discountCode: 'WELCOME10',
  });
  for (const step of ['process', 'ship', 'deliver'] as const) await staff.client.orders[step](id);
  const first = lines.slice(0, 1);
  const returned = await customer.client.orders.createReturn(id, {
    lines: first.map((line) => ({ ...line, reason: 'damaged' })),
  });
  await staff.client.returns.approve(returned.id);
  await staff.client.returns.receive(returned.id, { lines: first.map((line) => ({ ...line, restock: true })) });
  address = `${shop.gateway}/v1/orders/${id}/invoice`;
});

afterAll(async () => {
  await browser?.close();
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

/** Registers an account with these scopes, and logs it in. */
async function loggedIn(...scopes: string[]) {
  let access = '';
  const client = createShop({ baseUrl: shop.gateway, onTokens: (tokens) => (access = tokens?.access_token ?? '') });
  const email = `${randomUUID()}@example.com`;
  await client.register({ email, name, password });
  if (scopes.length > 0) await runShop(shop.dataDir, 'staff', 'grant', email, ...scopes);
  await client.logIn({ email, password });
  return { client, token: access };
}

/** Opens the page as the customer. `complaints` has the errors of the browser, and every further request. */
async function openInvoice(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ ...options, extraHTTPHeaders: { Authorization: `Bearer ${token}` } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== address) complaints.push(request.url());
  });
  await page.goto(address);
  return { page, complaints };
}

it.each(screens)(
  'the invoice is readable and complete on a %s in the %s color scheme',
  async (_device, colorScheme, viewport) => {
    const { page, complaints } = await openInvoice({ colorScheme, viewport, locale: 'de-DE' });
    expect(await page.title()).toMatch(/^Rechnung \d{4}-000001 · Acme GmbH$/);
    expect(await page.getByRole('article').count()).toBe(2);
    expect(await page.getByRole('article', { name: 'Gutschrift' }).getByText('Gutschriftbetrag').count()).toBe(1);
    // A style that the policy refuses would leave the ground transparent.
    const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(11, 14, 15)' : 'rgb(236, 238, 237)');
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);
    expect(await findings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);

it('the printed invoice and its credit note are one A4 sheet each, and light even in dark mode', async () => {
  const { page } = await openInvoice({ colorScheme: 'dark' });
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const sizes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, ...size]) => size.map(Number));
  // Points: 210 mm and 297 mm.
  expect(sizes.map((size) => size.map(Math.round))).toEqual([
    [595, 842],
    [595, 842],
  ]);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).color')).toBe('rgb(12, 18, 16)');
  await page.context().close();
});
