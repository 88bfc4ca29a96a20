// The board in a real browser: customers see the missing scope, and staff sees the live state of the shop, on any
// screen.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { serviceNames as services } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import pg from 'pg';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { askShop, processIdOf, runningShop, runShop } from '../../../cli/test/started-shop.ts';
import { type RunningShop, startShop } from '../../running-shop.ts';
import { findings } from './accessibility.ts';
import { startChromium } from './chromium.ts';
import { screens } from './screens.ts';

const password = 'a long and quiet river';
const email = `${randomUUID()}@example.com`;

let shop: RunningShop;
let browser: Browser;
let client: ReturnType<typeof createShop>;
let complaints: string[] = [];

beforeAll(async () => {
  [shop, browser] = await Promise.all([startShop(), startChromium()]);
  client = createShop({ baseUrl: shop.url });
  await client.call.POST('/v1/accounts', { body: { email, name: 'Kim', password } });
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  expect(complaints).toEqual([]);
  complaints = [];
});

afterAll(async () => {
  await browser.close();
  await shop.stop();
});

async function logIn(page: Page): Promise<void> {
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('#log-in button').click();
}

/** Opens the page of the board. `complaints` contains the errors of the browser. */
async function openBoard(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ baseURL: shop.url, ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser itself writes a refusal to the console, which the page explains.
    if (message.type() === 'error' && !message.text().includes('status of 403')) complaints.push(message.text());
  });
  await page.goto('/board');
  return page;
}

/** Opens the board for staff. */
async function openAsStaff(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openBoard(options);
  await logIn(page);
  return page;
}

interface Traced {
  readonly accountId: string;
  readonly steps: readonly Readonly<
    Record<'at' | 'service' | 'kind' | 'what', string> & { requestId: string | null }
  >[];
}

/** Runs `look` while a process of the shop is suspended. */
async function whileFrozen(name: string, look: () => Promise<void>): Promise<void> {
  const id = await processIdOf(shop.dataDir, name);
  process.kill(id, 'SIGSTOP');
  try {
    await look();
  } finally {
    process.kill(id, 'SIGCONT');
  }
}

const part = (page: Page, key: string, state = ''): Locator => page.locator(`#picture [data-part="${key}"]${state}`);

/** What the headline names, in its order. */
const headline = (page: Page): Promise<string[]> => page.locator('#faults strong').allTextContents();

const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

const everyPart = [
  ...['process gateway', 'broker broker'],
  ...services.flatMap((name) => [`process ${name}`, `schema ${name}`]),
  ...['queue orders.effects', 'queue catalogue.inventory', 'queue changes.feed', 'queue notifications.mail'],
];

describe('the board', () => {
  it('the board names the missing scope to a customer', async () => {
    const page = await openBoard();
    await logIn(page);
    await page.locator('#notice', { hasText: 'staff grant EMAIL orders:read-all' }).waitFor();
    expect(await page.locator('#figures').isVisible()).toBe(false);
    await shop.grant(email, 'orders:read-all');
    await logIn(page);
    await part(page, 'process catalogue', '.ready').waitFor();
  });

  it.each(screens)(
    'the board shows on a %s in the %s color scheme every part and its state, keeps to the width, and is accessible',
    async (_device, colorScheme, viewport) => {
      const page = await openAsStaff({ colorScheme, viewport });
      for (const key of everyPart) await part(page, key, '.ready').waitFor();
      expect(await page.locator('#picture .part').count()).toBe(everyPart.length);
      await page.locator('#faults', { hasText: 'All is well.' }).waitFor();
      expect(await part(page, 'process orders').locator('title').textContent()).toMatch(/^orders, ready, 1 of 1 up/);
      expect(await part(page, 'process orders').locator('.state').textContent()).toBe('ready');
      expect([await overflow(page), await findings(page)]).toEqual([0, []]);
      const [ground = '', name = ''] = await page.evaluate<string[]>(
        '[getComputedStyle(document.body).backgroundColor, ' +
          `getComputedStyle(document.querySelector('#picture .name')).fill]`,
      );
      const bright = (colour: string): number =>
        (colour.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part) / 765, 0);
      expect(colorScheme === 'dark' ? 1 - bright(ground) : bright(ground)).toBeGreaterThan(0.8);
      expect(Math.abs(bright(ground) - bright(name))).toBeGreaterThan(0.5);
    },
  );

  it('the board shows the figures of a selected part, also by keyboard', async () => {
    const page = await openAsStaff();
    await page.locator('#processes tr', { hasText: 'orders' }).waitFor();
    await part(page, 'process orders').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#processes-orders$/);
    expect(await page.locator('#processes tr:target').textContent()).toMatch(/^orders1 of 1/);
  });

  it('the board shows the webhooks by state when there are some', async () => {
    const page = await openAsStaff({ viewport: { width: 390, height: 844 } });
    await page.locator('#queues tr', { hasText: 'catalogue.inventory' }).waitFor();
    const region = page.getByRole('region', { name: 'Webhooks' });
    expect(await region.isVisible()).toBe(false);
    await shop.grant(email, 'webhooks:write');
    const { data: tokens } = await client.call.POST('/v1/tokens', { body: { email, password } });
    const added = await fetch(`${shop.url}/v1/webhooks`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tokens?.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: 'https://warehouse.invalid/shop', types: ['product'] }),
    });
    expect(added.status).toBe(201);
    await region.waitFor();
    await region.locator('tr', { hasText: /^010000\d* ?s?0$/ }).waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });

  it('the board shows the events of an order and its history', async () => {
    const page = await openAsStaff({ viewport: { width: 390, height: 844 } });
    await page.locator('#processes tr', { hasText: 'notifications' }).waitFor();
    await page.locator('#queues tr', { hasText: 'catalogue.inventory' }).waitFor();
    await Array.fromAsync(client.products({ price: { gte: 10 } }, { limit: 50 }));
    const searches = page
      .getByRole('region', { name: 'Requests through this gateway in the last minute' })
      .locator('#operations-searchProducts');
    await searches.waitFor();
    expect(Number(await searches.locator('td').nth(1).textContent())).toBeGreaterThan(1);

    const { data: tokens } = await client.call.POST('/v1/tokens', { body: { email, password } });
    const products = await fetch(`${shop.url}/v1/products?inStock=true&limit=1`);
    const { items } = (await products.json()) as { items: { id: string }[] };
    const placed = await fetch(`${shop.url}/v1/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tokens?.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ items: [{ productId: items[0]?.id, quantity: 1 }] }),
    });
    const { id } = (await placed.json()) as { id: string };
    await part(page, 'process orders').locator('.rate', { hasText: /[1-9]/ }).waitFor();
    await part(page, 'process catalogue').locator('.rate', { hasText: /[1-9]/ }).waitFor();
    // A horizontal line has no height, so it counts as hidden.
    await page.locator('#picture .request.busy').first().waitFor({ state: 'attached' });
    await page.locator('#picture .event.busy').first().waitFor({ state: 'attached' });
    await page.locator('#queues tr', { hasText: /notifications\.mail[1-9]/ }).waitFor();
    await page.locator('#stock tr', { hasText: /reserved\s*[1-9]/ }).waitFor();

    await page.locator('input[name=order]').fill(id);
    await page.locator('#find button').click();
    await page
      .locator('#found', { hasText: new RegExp(`Order ${id} of account [0-9a-f-]{36} is pending\\.$`) })
      .waitFor();
    await page.locator('#steps li', { hasText: 'pending by customer' }).waitFor();
    await page.locator('#steps li', { hasText: 'reserved 1 of' }).waitFor();
    for (const width of [360, 800, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const fits = `[...document.querySelectorAll('#steps, #steps li *')]
        .every((box) => box.scrollWidth <= box.clientWidth + 1
          || getComputedStyle(box).display === 'inline')`;
      expect([width, await overflow(page), await page.evaluate(fits)]).toEqual([width, 0, true]);
    }
  });

  it('the board shows the same history of an order as the command line, with its e-mails', async () => {
    expect(await runShop(shop.dataDir, 'accounts', 'verify-email', email)).toMatchObject({ code: 0 });
    const { data: tokens } = await client.call.POST('/v1/tokens', { body: { email, password } });
    const headers = { Authorization: `Bearer ${tokens?.access_token}`, 'Content-Type': 'application/json' };
    const { items } = (await (await fetch(`${shop.url}/v1/products?inStock=true&limit=1`)).json()) as {
      items: { id: string }[];
    };
    const body = JSON.stringify({ items: [{ productId: items[0]?.id, quantity: 1 }] });
    const { id } = (await (await fetch(`${shop.url}/v1/orders`, { method: 'POST', headers, body })).json()) as {
      id: string;
    };
    await fetch(`${shop.url}/v1/orders/${id}/cancel`, { method: 'POST', headers });
    const page = await openAsStaff();
    await page.locator('#find').waitFor();
    await eventually(async () => {
      const traced = await askShop<Traced>(shop.dataDir, 'trace', id);
      const expected = traced.steps.map(({ at, service, kind, what, requestId }) => [
        ...[at, service, kind, what],
        requestId === null ? '' : `request ${requestId}`,
      ]);
      expect(expected.map(([, , , what]) => what)).toEqual(
        expect.arrayContaining([
          'order-received sent',
          'order-cancelled sent',
          'notification.sent.v1 taken by orders.effects',
        ]),
      );
      await page.locator('input[name=order]').fill(id);
      await page.locator('#find button').click();
      await page.locator('#found', { hasText: `Order ${id} of account ${traced.accountId} is cancelled.` }).waitFor();
      const shown = await page.evaluate<string[][]>(
        `[...document.querySelectorAll('#steps li')].map((item) => [
          item.querySelector('time').dateTime,
          ...['strong', 'em', 'span'].map((name) => item.querySelector(name).textContent),
          item.querySelector('small').textContent.split(' · ').filter((text) => text.startsWith('request'))[0] ?? ''])`,
      );
      expect(shown).toEqual(expected);
    }, 30_000);
  });

  it('the board shows a service that hangs, what to do, and its recovery', async () => {
    const page = await openAsStaff();
    await part(page, 'process orders', '.ready').waitFor();
    await whileFrozen('orders', async () => {
      const orders = part(page, 'process orders', '.not-ready');
      await orders.locator('.why', { hasText: 'nothing answers' }).waitFor();
      await orders.locator('.state', { hasText: 'not ready' }).waitFor();
      await part(page, 'schema orders', '.unknown').waitFor();
      await page.locator('#notice', { hasText: 'orders is not ready.' }).waitFor();
      const fault = page.locator('#faults li', { hasText: 'orders: nothing answers.' });
      expect(await fault.locator('a').getAttribute('href')).toBe('/docs/runbooks/process-down');
      await part(page, 'process catalogue', '.ready').waitFor();
    });
    await part(page, 'process orders', '.ready').waitFor();
    await part(page, 'schema orders', '.ready').waitFor();
  });

  it('the board renews its access token when the accounts service responds again', async () => {
    const page = await openAsStaff();
    await part(page, 'process accounts', '.ready').waitFor();
    // The next streams are requested as if the present token had expired.
    let expired: string | undefined;
    await page.route('**/board/events', (route) => {
      const { authorization, ...others } = route.request().headers();
      expired ??= authorization;
      return route.continue({
        headers: { ...others, authorization: authorization === expired ? 'Bearer expired' : (authorization ?? '') },
      });
    });
    await whileFrozen('accounts', async () => {
      await whileFrozen('gateway', () =>
        page.locator('#faults li', { hasText: 'gateway: does not answer.' }).waitFor(),
      );
      await page.locator('#faults li', { hasText: 'gateway: sends no data.' }).waitFor();
      expect(await page.locator('#log-in').isVisible()).toBe(false);
    });
    await page.locator('#faults', { hasText: 'All is well.' }).waitFor();
    await part(page, 'process accounts', '.ready').waitFor();
    expect(await page.locator('#log-in').isVisible()).toBe(false);
    const refusals = complaints.filter((text) => /status of (401|503|504)/.test(text));
    expect(refusals).not.toEqual([]);
    complaints = complaints.filter((text) => !refusals.includes(text));
  });

  it('the board names the failing check when a service has lost its database', async () => {
    const page = await openAsStaff();
    await part(page, 'process notifications', '.ready').waitFor();
    const { databases } = await runningShop(shop.dataDir);
    const url = new URL(databases.notifications ?? '');
    const role = new pg.Client({ connectionString: url.href });
    await role.connect();
    const changePassword = (text: string): Promise<unknown> =>
      role.query(`ALTER ROLE CURRENT_USER PASSWORD ${pg.escapeLiteral(text)}`);
    const disconnect = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE usename = CURRENT_USER AND pid <> pg_backend_pid()`;
    try {
      await changePassword(randomUUID());
      await role.query(disconnect);
      const notifications = part(page, 'process notifications', '.not-ready');
      await notifications.locator('.why', { hasText: 'check database fails' }).waitFor();
      await part(page, 'schema notifications', '.not-ready').waitFor();
      await part(page, 'schema orders', '.ready').waitFor();
      await page.locator('#faults li', { hasText: 'Does PostgreSQL run' }).waitFor();
      expect((await headline(page)).slice(0, 2)).toEqual([
        'database of notifications: unreachable.',
        'notifications: check database fails.',
      ]);
      await page.locator('#faults a').first().click();
      await page.locator('h1', { hasText: 'Service unreachable' }).waitFor();
      await page.goBack();
      await logIn(page);
    } finally {
      await changePassword(decodeURIComponent(url.password));
      await role.end();
    }
    await part(page, 'process notifications', '.ready').waitFor();
    await part(page, 'schema notifications', '.ready').waitFor();
  });

  it('the board reports a lost connection, and continues when the gateway is available again', async () => {
    const page = await openAsStaff();
    await part(page, 'process orders', '.ready').waitFor();
    await whileFrozen('gateway', async () => {
      await part(page, 'process gateway', '.not-ready').locator('.why', { hasText: 'does not answer' }).waitFor();
      await part(page, 'process orders', '.unknown').waitFor();
    });
    await part(page, 'process gateway', '.ready').waitFor();
    await part(page, 'process orders', '.ready').waitFor();
    await page.locator('#faults', { hasText: 'All is well.' }).waitFor();
  });
});
