// The documentation in a real browser: its pages on each screen, and an order that is placed and cancelled from the
// page.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { guideNames } from '../../gateway/plugin/pages/docs/documentation.ts';
import { type RunningShop, startShop } from '../running-shop.ts';
import { startChromium } from './chromium.ts';
import { screens } from './screens.ts';

let shop: RunningShop;
let browser: Browser;

beforeAll(async () => {
  [shop, browser] = await Promise.all([startShop(), startChromium()]);
});

afterAll(async () => {
  await browser.close();
  await shop.stop();
});

interface Visit {
  readonly page: Page;
  /** Collects console errors and warnings, uncaught errors, and requests to other hosts. */
  readonly complaints: string[];
}

/** Opens a page, and opens it again when the machine's network changed meanwhile, which aborts loading. */
async function visit(path: string, options: BrowserContextOptions = {}): Promise<Visit> {
  for (let left = 3; ; left--) {
    const context = await browser.newContext({ baseURL: shop.url, ...options });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== new URL(shop.url).origin) complaints.push(`request to ${request.url()}`);
    });
    await page.goto(path, { waitUntil: 'load' }).catch((error: Error) => complaints.push(error.message));
    if (left === 0 || !complaints.some((complaint) => complaint.includes('ERR_NETWORK_CHANGED')))
      return { page, complaints };
    await context.close();
  }
}

const paths = ['/docs', ...guideNames.map((name) => `/docs/${name}`), '/problems', '/problems/price-changed'];

/**
 * Returns the luminance of the page and of its first heading, from 0 (black) to 1 (white). A page that sets no colour
 * has the browser's default.
 */
async function lightness(page: Page): Promise<{ ground: number | undefined; text: number }> {
  const [body = '', root = '', heading = ''] = await page.evaluate<string[]>(
    `[document.body, document.documentElement, document.querySelector('h1, h2')]
      .map((element, index) => getComputedStyle(element)[index === 2 ? 'color' : 'backgroundColor'])`,
  );
  const ground = [body, root].find((colour) => colour !== 'rgba(0, 0, 0, 0)');
  return { ground: ground === undefined ? undefined : lightnessOf(ground), text: lightnessOf(heading) };
}

function lightnessOf(colour: string): number {
  const parts = (colour.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  return parts.reduce((sum, part) => sum + part, 0) / 765;
}

describe.each(screens)('on a %s in a %s room', (_device, colorScheme, viewport) => {
  it.each(paths)('%s is complete, sends no request elsewhere, fits and can be read', async (path) => {
    const { page, complaints } = await visit(path, { colorScheme, viewport });
    if (path === '/docs') await page.locator('#operations-Orders-cancelOrder').waitFor();
    expect(complaints).toEqual([]);
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    const { ground = colorScheme === 'dark' ? 0 : 1, text } = await lightness(page);
    expect(colorScheme === 'dark' ? 1 - ground : ground).toBeGreaterThan(0.8);
    expect(Math.abs(ground - text)).toBeGreaterThan(0.5);
    await page.context().close();
  });
});

/** Opens an operation in the reference. */
async function opened(page: Page, operation: string): Promise<Locator> {
  const block = page.locator(`[id="operations-${operation}"]`);
  await block.locator('.opblock-summary-control').first().click();
  await block.locator('.execute').waitFor();
  return block;
}

/** Sends the request of an operation of the reference. */
async function executed(block: Locator): Promise<{ status: number; body: Record<string, unknown> }> {
  await block.locator('.execute').click();
  const live = block.locator('.live-responses-table');
  await live.waitFor();
  const status = Number.parseInt(
    (await live.locator('tr.response td.response-col_status').first().textContent()) ?? '',
    10,
  );
  return {
    status,
    body: JSON.parse(
      (await live.locator('.response-col_description .highlight-code code').first().textContent()) ?? '',
    ),
  };
}

describe('a visitor of the reference', () => {
  it.each(['desktop', 'phone'] as const)(
    'on a %s registers, logs in, orders, cancels, and sees a refusal explained',
    async (device) => {
      const viewport = screens.find(([name]) => name === device)?.[2] ?? null;
      const { page, complaints } = await visit('/docs', { viewport });
      const email = `${randomUUID()}@example.com`;
      const password = 'a long and quiet river';

      const register = await opened(page, 'Accounts-registerAccount');
      await register.locator('textarea').fill(JSON.stringify({ email, name: 'Kim', password }));
      expect((await executed(register)).status).toBe(201);

      const logIn = await opened(page, 'Tokens-issueToken');
      await logIn.locator('textarea').fill(JSON.stringify({ email, password }));
      expect((await executed(logIn)).status).toBe(200);

      const products = await opened(page, 'Products-listProducts');
      const listed = await executed(products);
      expect(listed.status).toBe(200);
      expect(listed.body.items).toHaveLength(20);
      const available = (listed.body.items as { id: string; status: string }[]).find(
        ({ status }) => status === 'available',
      );

      const place = await opened(page, 'Orders-createOrder');
      const text = await place.locator('textarea').inputValue();
      expect(JSON.parse(text).items).toHaveLength(1);
      await place.locator('textarea').fill(text.replace(/"productId": "[^"]+"/, `"productId": "${available?.id}"`));
      const placed = await executed(place);
      expect([placed.status, placed.body.status]).toEqual([201, 'pending']);

      const cancel = await opened(page, 'Orders-cancelOrder');
      await cancel.locator('input[placeholder="orderId"]').fill(String(placed.body.id));
      const cancelled = await executed(cancel);
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
      expect(complaints).toEqual([]);

      const ship = await opened(page, 'Fulfilment-shipOrder');
      await ship.locator('input[placeholder="orderId"]').fill(String(placed.body.id));
      const refused = await executed(ship);
      expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
      await page.goto(String(refused.body.type));
      expect(await page.locator('h1').textContent()).toBe('The caller may not do this');
      await page.context().close();
    },
  );
});
