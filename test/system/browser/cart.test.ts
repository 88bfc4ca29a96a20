// `shop.cart` of the compiled client in two tabs of a real browser.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { eventually } from '@shop/shared/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { startChromium } from './chromium.ts';
import { compileClient, type ModulePage, serveModules } from './client-modules.ts';

const password = 'a long and quiet river';
const email = `${randomUUID()}@example.com`;

let folder: string;
let shop: StartedShop;
let browser: Browser;
let context: BrowserContext;
let site: ModulePage;
let products: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-cart-'));
  const modules = await compileClient(folder);
  [site, browser] = await Promise.all([serveModules(modules, 'localhost'), startChromium()]);
  shop = await launchShop({ dataDir: join(folder, 'data') });
  await shop.ready;
  const client = createShop({ baseUrl: shop.gateway });
  await client.register({ email, name: 'Kim Park', password });
  await client.logIn({ email, password });
  const { items } = await client.products.page({ inStock: true }, { limit: 3 });
  products = items.map(({ id }) => id);
  context = await browser.newContext();
});

afterAll(async () => {
  await browser?.close();
  await shop?.end();
  await site?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens a tab whose customer is logged in. `window.cart` is the cart. */
async function openTab(): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.url);
  await page.evaluate(`(async () => {
    const { createShop } = await import('/index.js');
    const client = createShop({ baseUrl: '${shop.gateway}' });
    await client.logIn({ email: '${email}', password: '${password}' });
    window.client = client;
    window.cart = client.cart;
  })()`);
  return page;
}

const stateOf = (page: Page) =>
  page.evaluate<{ items: { quantity: number }[]; quote?: { totalCost: number } }>('cart.state');

it('two tabs change one cart without losing a change, show one price, and order it once', async () => {
  const tabs = await Promise.all([openTab(), openTab()]);
  const [first, second] = tabs;
  if (first === undefined || second === undefined) throw new Error('the tabs are missing');
  const add = (page: Page, product: string | undefined) =>
    page.evaluate(`Promise.all(Array.from({ length: 20 }, () => cart.add('${product}')))`);
  await Promise.all([
    add(first, products[0]),
    add(second, products[0]),
    add(first, products[1]),
    add(second, products[2]),
  ]);
  const contents = [
    { productId: products[0], quantity: 2 },
    { productId: products[1], quantity: 1 },
    { productId: products[2], quantity: 1 },
  ];
  const quantities = (await stateOf(first)).items.map(({ quantity }) => quantity).sort();
  expect(quantities).toEqual([20, 20, 40]);
  for (const { productId, quantity } of contents) await first.evaluate(`cart.set('${productId}', ${quantity})`);
  await eventually(async () => {
    const states = await Promise.all(tabs.map(stateOf));
    expect(states[0]?.quote?.totalCost).toBeGreaterThan(0);
    expect(states[1]?.quote?.totalCost).toBe(states[0]?.quote?.totalCost);
  });

  // The cart survives a closed tab.
  await second.close();
  const third = await openTab();
  const { items, quote } = await stateOf(first);
  await eventually(async () =>
    expect(await stateOf(third)).toMatchObject({ items, quote: { totalCost: quote?.totalCost } }),
  );
  const order = 'cart.order().then(({ id, totalCost }) => ({ id, totalCost }))';
  const placed = await Promise.all([first.evaluate(order), third.evaluate(order)]);
  expect(placed[1]).toEqual(placed[0]);
  expect(placed[0]).toMatchObject({ totalCost: quote?.totalCost });
  const count = '(async () => { let n = 0; for await (const _ of client.orders()) n += 1; return n; })()';
  expect(await first.evaluate(count)).toBe(1);
  await eventually(async () => expect((await stateOf(third)).items).toEqual([]));
});
