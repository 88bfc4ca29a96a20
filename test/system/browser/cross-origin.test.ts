// A page of another origin uses the compiled client in a real browser. `npm start` allows the pages of
// http://localhost, and no others.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { startChromium } from './chromium.ts';
import { compileClient, type ModulePage, serveModules } from './client-modules.ts';

const password = 'a long and quiet river';

let folder: string;
let local: ModulePage;
let other: ModulePage;
let shop: StartedShop;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-origin-'));
  await chmod(folder, 0o711);
  const modules = await compileClient(folder);
  [local, other, browser] = await Promise.all([
    serveModules(modules, 'localhost'),
    serveModules(modules, '127.0.0.1'),
    startChromium(),
  ]);
  shop = await launchShop({ dataDir: join(folder, 'data') });
  await shop.ready;
});

afterAll(async () => {
  await browser?.close();
  await shop?.end();
  await local?.close();
  await other?.close();
  await rm(folder, { recursive: true, force: true });
});

async function open({ url }: ModulePage): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

/** The program in the page. It registers, orders, cancels, and reads header fields that CORS must expose. */
const program = `(async () => {
  const { createShop, isShopError } = await import('/index.js');
  const baseUrl = BASE;
  const shop = createShop({ baseUrl });
  const email = EMAIL, password = '${password}';
  await shop.register({ email, name: 'Kim Park', password });
  let tokens;
  const first = createShop({ baseUrl, onTokens: (given) => (tokens = given) });
  await first.logIn({ email, password });
  const tokenEnded = { ...tokens, access_token: 'not.valid.now' };
  const renewed = [];
  const next = createShop({ baseUrl, tokens: tokenEnded, onTokens: (given) => renewed.push(given) });
  const found = await next.products.page({ q: 'lamp', inStock: true }, { limit: 1, facets: ['brand'] });
  const [product] = found.items;
  const list = await next.call.GET('/v1/products', { params: { query: { limit: 1 } } });
  const order = await next.orders.place({ items: [{ productId: product.id, quantity: 1 }] });
  const shown = await next.call.GET('/v1/orders/{orderId}', { params: { path: { orderId: order.id } } });
  const header = { 'If-Match': shown.response.headers.get('etag') };
  const params = { path: { orderId: order.id }, header };
  const cancelled = await next.call.POST('/v1/orders/{orderId}/cancel', { params, body: {} });
  const tooMany = { items: [{ productId: product.id, quantity: 999 }] };
  const refusal = await next.orders.place(tooMany).catch((error) => error);
  return {
    name: (await next.me()).name,
    facets: found.facets.brand.length > 0,
    more: typeof found.pagination.nextCursor,
    renewals: renewed.length,
    listed: list.response.status,
    link: list.response.headers.get('link')?.includes('rel="next"'),
    limit: list.response.headers.has('ratelimit'),
    cancelled: cancelled.data?.status,
    refusal: isShopError(refusal, 'createOrder') && refusal.code,
    requestId: typeof refusal.requestId,
  };
})()`;

const programFor = (email: string): string =>
  program.replace('BASE', JSON.stringify(shop.gateway)).replace('EMAIL', JSON.stringify(email));

describe('a page of another origin', () => {
  it('a page of http://localhost orders with the compiled client', async () => {
    const page = await open(local);
    expect(await page.evaluate(programFor(`${randomUUID()}@example.com`))).toEqual({
      name: 'Kim Park',
      facets: true,
      more: 'string',
      // The first token and a renewed one.
      renewals: 2,
      listed: 200,
      link: true,
      limit: true,
      cancelled: 'cancelled',
      refusal: 'insufficient-stock',
      requestId: 'string',
    });
  });

  it('a page of another origin reads no response, and the client names CORS_ORIGINS', async () => {
    const page = await open(other);
    const read = (path: string): Promise<string> =>
      page.evaluate<string>(
        `fetch('${shop.gateway}${path}', { headers: { Authorization: 'Bearer x' } }).then(() => 'read', (e) => e.name)`,
      );
    expect(await read('/v1/products')).toBe('TypeError');
    expect(await page.evaluate(`fetch('${shop.gateway}/v1/products').then(() => 'read', (e) => e.name)`)).toBe(
      'TypeError',
    );
    const failed = `import('/index.js').then(({ createShop }) =>
      createShop({ baseUrl: '${shop.gateway}', attempts: 1 }).brands.page().catch((error) => error.message))`;
    expect(await page.evaluate(failed)).toBe(
      `GET ${shop.gateway}/v1/brands got no response: Failed to fetch. Either the shop cannot be reached, or it does not allow pages of ` +
        `${other.url}: CORS_ORIGINS of its gateway lists the origins that it allows`,
    );
  });

  it('a page of another origin reads neither board nor documentation, also when it is a page of http://localhost', async () => {
    const page = await open(local);
    for (const path of ['/board', '/docs', '/health/ready'])
      expect(await page.evaluate(`fetch('${shop.gateway}${path}').then(() => 'read', (e) => e.name)`)).toBe(
        'TypeError',
      );
  });
});
