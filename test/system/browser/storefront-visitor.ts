// Visitors of the example storefront: a shop with invoices, and pages whose every message of the browser is recorded.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { createShop, type Product, type Shop } from '@shop/client';
import { eventually } from '@shop/shared/testing';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchShop, runShop } from '../../../cli/test/started-shop.ts';
import { configForRegistrations } from '../../gateway-config.ts';
import { startChromium } from './chromium.ts';

export const password = 'a long and quiet river';

export interface Customer {
  readonly email: string;
  readonly client: Shop;
}

export interface Visit {
  readonly page: Page;
  /** What the browser wrote to the console of this page, and the requests to other hosts. */
  readonly complaints: readonly string[];
}

export interface StorefrontShop {
  readonly url: string;
  readonly browser: Browser;
  /** The complaints of all pages. */
  readonly complaints: string[];
  /** Returns a product by name; of several variants, one that is in stock. */
  product(name: string): Promise<Product>;
  /** Registers an account, grants it scopes, and logs it in. */
  customer(name?: string, ...scopes: string[]): Promise<Customer>;
  verify(email: string): Promise<void>;
  open(options?: BrowserContextOptions): Promise<Page>;
  /** Opens a page in a browser of its own, and waits until the page has its content. */
  visit(path: string, options?: BrowserContextOptions): Promise<Visit>;
  /** Waits for the e-mail of a kind. @returns the address of the storefront that it links to */
  linkInEmail(kind: string, email: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startStorefront(): Promise<StorefrontShop> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-storefront-'));
  await chmod(folder, 0o711);
  const GATEWAY_CONFIG_DIR = await configForRegistrations(join(folder, 'config'));
  const environment = { GATEWAY_CONFIG_DIR, SELLER_NAME: 'Acme GmbH' };
  const shop = await launchShop({ dataDir: join(folder, 'data'), environment });
  const [browser] = await Promise.all([startChromium(), shop.ready]);
  const anybody = createShop({ baseUrl: shop.gateway });
  const complaints: string[] = [];
  const run = async (...words: string[]): Promise<void> => {
    const { code, complaints: reason } = await runShop(shop.dataDir, ...words);
    if (code !== 0) throw new Error(reason);
  };
  const openContext = async (options: BrowserContextOptions = {}, own: string[]): Promise<BrowserContext> => {
    const context = await browser.newContext({ baseURL: shop.gateway, locale: 'en-GB', ...options });
    context.setDefaultTimeout(60_000);
    const complain = (text: string): void => {
      for (const list of [complaints, own]) list.push(text);
    };
    context.on('console', (message) => complain(`${message.type()}: ${message.text()}`));
    context.on('weberror', (error) => complain(error.error().message));
    context.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http') && url.origin !== shop.gateway) complain(`request to ${url}`);
    });
    return context;
  };
  return {
    url: shop.gateway,
    browser,
    complaints,
    async product(name) {
      const { items } = await anybody.products.page({ q: name, inStock: true }, { limit: 100 });
      const found = items.find((each) => each.name === name);
      if (found === undefined) throw new Error(`no product ${name}`);
      return found as Product;
    },
    async customer(name = 'Kim Park', ...scopes) {
      const email = `${randomUUID()}@example.com`;
      const client = createShop({ baseUrl: shop.gateway });
      await client.register({ email, name, password });
      if (scopes.length > 0) await run('staff', 'grant', email, ...scopes);
      await client.logIn({ email, password });
      return { email, client };
    },
    verify: (email) => run('accounts', 'verify-email', email),
    open: async (options) => (await openContext(options, [])).newPage(),
    async visit(path, options) {
      const own: string[] = [];
      const page = await (await openContext(options, own)).newPage();
      await page.goto(path);
      await settled(page);
      return { page, complaints: own };
    },
    linkInEmail: (kind, email) =>
      eventually(async () => linkIn(await emailTo(join(shop.dataDir, 'mail'), kind, email)), 30_000),
    async stop() {
      await browser.close();
      await shop.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function emailTo(folder: string, kind: string, email: string): Promise<string> {
  const files = (await readdir(folder)).filter((name) => name.includes(kind)).toSorted();
  for (const file of files.toReversed()) {
    const text = await readFile(join(folder, file), 'utf8');
    if (text.includes(email)) return text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
  }
  throw new Error(`no e-mail ${kind} to ${email}`);
}

/** Returns the path of the link, because pages have the origin as their base. */
function linkIn(text: string): string {
  const [, path] = /https?:\/\/[^/\s]+(\/[\w-]+#token=[\w-]+)/.exec(text) ?? [];
  if (path === undefined) throw new Error('the e-mail has no link with a token');
  return path;
}

/** Logs in with the form, and waits until the page behind it is shown. */
export async function logIn(page: Page, email: string, next = '/account', secret = password): Promise<void> {
  await page.goto(`/log-in?${new URLSearchParams({ next })}`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(secret);
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((url) => url.pathname === next);
}

/** Puts a product into the cart on its page. */
export async function addToCart(page: Page, { id }: Pick<Product, 'id'>, units = 1): Promise<void> {
  await page.goto(`/p/${id}`);
  const quantity = page.getByRole('main').locator('input[type=number]');
  if (units !== 1) await quantity.fill(String(units));
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.locator('.notice.success', { hasText: 'in your cart' }).waitFor();
}

export async function fillAddress(page: Page, address: Readonly<Record<string, string>> = {}): Promise<void> {
  const values = { street_address: 'Lindenweg 4', postal_code: '10115', city: 'Berlin', ...address };
  for (const [name, value] of Object.entries(values))
    await page.locator(`[name="shipping_address/${name}"]`).fill(value);
  await page.getByLabel('Country').selectOption('DE');
}

export const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Waits until no part of the page is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await eventually(async () => expect(await page.locator('[aria-busy=true]').count()).toBe(0));
}

export const placeButton = (page: Page) => page.getByRole('button', { name: /^Place the order/ });

/** Places the order of the checkout, and waits for its page. @returns the id of the order */
export async function place(page: Page): Promise<string> {
  await placeButton(page).and(page.locator('[aria-disabled=false]')).click();
  await page.waitForURL('**/orders/*');
  await page.getByText('Thank you. Your order is placed.').waitFor();
  return orderId(page);
}

export const orderId = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1) ?? '';

export async function ordersOf({ client }: Customer): Promise<string[]> {
  return (await Array.fromAsync(client.orders())).map(({ id }) => id);
}
