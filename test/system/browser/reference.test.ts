// The reference of the API in a real browser: requests that are sent from its pages, such as an order that is placed and
// cancelled.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { findings } from './accessibility.ts';
import { type Documentation, lightness, openDocumentation, type Visit } from './documentation.ts';
import { screens } from './screens.ts';

let documentation: Documentation;

beforeAll(async () => {
  documentation = await openDocumentation();
});
afterAll(() => documentation?.stop());

const visit = (path: string, options?: BrowserContextOptions): Promise<Visit> => documentation.visit(path, options);

/** Sends the request of an operation, on its page. */
async function tried(page: Page, operation: string, { body, values = {} }: Attempt = {}): Promise<Answer> {
  await page.goto(`/docs/reference/${operation}`);
  const form = page.locator('#try');
  for (const [label, value] of Object.entries(values)) await form.getByLabel(label, { exact: true }).fill(value);
  if (body !== undefined) await form.getByLabel('Body').fill(JSON.stringify(body));
  await form.getByRole('button', { name: 'Send' }).click();
  await page.locator('#answer').waitFor();
  const status = Number.parseInt((await page.locator('#answer-status').textContent()) ?? '', 10);
  const [text = '{}'] = ((await page.locator('#answer-text').textContent()) ?? '').split('\n\n');
  return { status, body: text.startsWith('{') ? JSON.parse(text) : {} };
}

interface Attempt {
  readonly body?: object;
  readonly values?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

describe('a visitor of the reference', () => {
  it.each(['desktop', 'phone'] as const)(
    'a visitor of the reference on a %s registers, logs in, orders, cancels, and sees an error response explained',
    async (device) => {
      const viewport = screens.find(([name]) => name === device)?.[2] ?? null;
      const { page, complaints } = await visit('/docs/reference', { viewport });
      const email = `${randomUUID()}@example.com`;
      const password = 'a long and quiet river';
      const account = { email, name: 'Kim', password };
      expect(
        (await tried(page, 'register-account', { body: account, values: { 'E-mail address': email } })).status,
      ).toBe(201);

      // The address is typed once.
      await page.goto('/docs/reference/issue-token');
      expect(JSON.parse(await page.getByLabel('Body').inputValue())).toMatchObject({ email });
      expect((await tried(page, 'issue-token', { body: { email, password } })).status).toBe(200);
      expect(page.url()).not.toContain('ey');

      const listed = await tried(page, 'list-products');
      expect(listed.body.items).toHaveLength(20);

      // The example names a product of this shop, and the token of the log-in is sent.
      const placed = await tried(page, 'create-order');
      expect([placed.status, placed.body.status]).toEqual([201, 'pending']);
      const id = String(placed.body.id);

      await page.goto('/docs/reference/cancel-order');
      expect(await page.getByLabel('Order', { exact: true }).inputValue()).toBe(id);
      expect(await page.locator('pre[data-tab=curl], [data-tab=curl] pre').first().textContent()).toContain(
        `${new URL(documentation.shop.url).origin}/v1/orders/${id}/cancel`,
      );
      const cancelled = await tried(page, 'cancel-order');
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
      expect(complaints).toEqual([]);

      const refused = await tried(page, 'ship-order');
      expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
      await page.goto(String(refused.body.type));
      expect(await page.locator('h1').textContent()).toBe('The caller may not do this');
      await page.context().close();
    },
  );

  it('a visitor of the reference sends an order once on a double click, and again with the same key until a definite response', async () => {
    const { page } = await visit('/docs/reference/create-order');
    const keys: unknown[] = [];
    const { promise: clicked, resolve } = Promise.withResolvers<void>();
    await page.route('**/v1/orders', async (route) => {
      keys.push((await route.request().allHeaders())['idempotency-key']);
      await clicked;
      if (keys.length === 1) return route.abort();
      if (keys.length === 2) return route.fulfill({ status: 504, json: { code: 'gateway-timeout' } });
      return route.continue();
    });
    const send = page.getByRole('button', { name: 'Send' });
    const status = page.locator('#answer-status');
    await send.dblclick();
    expect(await send.isDisabled()).toBe(true);
    resolve();
    await status.getByText('No answer').waitFor();
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    // The order may have been placed all the same.
    await send.click();
    await status.getByText('504').waitFor();
    // Without a token, the shop answers with 401.
    await send.click();
    await status.getByText('401').waitFor();
    const last = page.waitForRequest('**/v1/orders');
    await send.click();
    await (await last).response();
    expect(keys.map((key) => key === keys[0])).toEqual([true, true, true, false]);
    await page.context().close();
  });

  it('the reference shows why a request cannot be sent', async () => {
    const { page } = await visit('/docs/reference/list-orders');
    await page.getByLabel('Access token').fill('ключ');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#answer').waitFor();
    expect(await page.locator('#answer-status').textContent()).toBe('Error');
    await page.context().close();
  });

  it('a visitor of the reference forgets the token on request', async () => {
    const { page } = await visit('/docs/reference/list-orders');
    await page.getByLabel('Access token').fill('secret');
    await page.reload();
    expect(await page.getByLabel('Access token').inputValue()).toBe('secret');
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.reload();
    expect(await page.getByLabel('Access token').inputValue()).toBe('');
    await page.context().close();
  });

  it.each(['/', 'Control+k'])(
    'a visitor of the reference opens the search by %s, and finds an operation with the keyboard alone',
    async (key) => {
      const { page, complaints } = await visit('/docs');
      await page.keyboard.press(key);
      await page.keyboard.type('checkout');
      await page.locator('#found a').first().waitFor();
      expect(await page.locator('#found-count').textContent()).toMatch(/^\d+ found$/);
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press('ArrowDown');
      expect(await page.locator('#found a').first().evaluate('document.activeElement.href')).toContain('/docs/');
      await page.keyboard.type(' cancel');
      expect(await page.getByRole('searchbox').inputValue()).toBe('checkout cancel');
      await page.getByRole('searchbox').fill('cancel order');
      await page.locator('#found a[href="/docs/reference/cancel-order"]').waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/reference/cancel-order');
      expect(complaints).toEqual([]);
      await page.context().close();
    },
  );

  it('the search of the reference covers the whole screen of a phone, and finds a section of a guide for operators', async () => {
    const { page, complaints } = await visit('/docs/errors', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Search' }).click();
    const dialog = page.getByRole('dialog', { name: 'Search the documentation' });
    const { width = 0, height = 0 } = (await dialog.boundingBox()) ?? {};
    expect([width, height >= 840]).toEqual([390, true]);
    await page.getByRole('searchbox').fill('backup');
    await page.locator('#found a').first().waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(await findings(page)).toEqual([]);
    await page.locator('#found a[href="/docs/command-line#backup-and-restore"]').click();
    await page.waitForURL('**/docs/command-line#backup-and-restore');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('the search of the reference reports that nothing was found, and closes with Escape', async () => {
    const { page } = await visit('/docs');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('xyzzy');
    await page.getByText('Nothing found for “xyzzy”.').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#search').isVisible()).toBe(false);
    await page.context().close();
  });

  it('the reference remembers the choice of a language and of the theme', async () => {
    const { page } = await visit('/docs/reference/create-order', { colorScheme: 'light' });
    await page.getByText('Python', { exact: true }).click();
    await page.locator('#theme').click();
    await page.goto('/docs/reference/list-orders');
    expect(await page.locator('[data-tab=python] pre').isVisible()).toBe(true);
    expect(await page.locator('[data-tab=curl] pre').isVisible()).toBe(false);
    expect((await lightness(page)).ground).toBeLessThan(0.2);
    await page.context().close();
  });

  it('a visitor of the reference copies a code sample', async () => {
    const { page } = await visit('/docs/reference/get-product', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('.copies:visible button').first().click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^curl 'http:.+\/v1\/products\/[0-9a-f-]{36}'$/,
    );
    await page.context().close();
  });

  it('a visitor of the reference opens the list of all pages on a phone', async () => {
    const { page } = await visit('/docs/filtering', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'All pages' }).click();
    await page.locator('#all-pages').getByRole('link', { name: 'Pagination' }).click();
    await page.waitForURL('**/docs/pagination');
    await page.context().close();
  });

  it('a visitor of the reference reaches an operation by its previous address', async () => {
    const { page } = await visit('/docs#/Orders/cancelOrder');
    await page.waitForURL('**/docs/reference/cancel-order');
    await page.context().close();
  });
});
