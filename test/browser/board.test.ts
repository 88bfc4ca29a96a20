// The board in a real browser: a customer is told what is missing, staff sees the shop move.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import type { Browser } from 'playwright-core';
import { type RunningShop, startShop } from '../running-shop.ts';
import { startChromium } from './chromium.ts';

const longEnough = 180_000;
const password = 'a long and quiet river';

let shop: RunningShop;
let browser: Browser;

beforeAll(async () => {
  [shop, browser] = await Promise.all([startShop(), startChromium()]);
}, longEnough);

afterAll(async () => {
  await browser.close();
  await shop.stop();
}, longEnough);

it(
  'shows its figures to staff, live, and tells a customer which scope is missing',
  async () => {
    const email = `${randomUUID()}@example.com`;
    const client = createShop({ baseUrl: shop.url });
    await client.call.POST('/v1/accounts', { body: { email, name: 'Kim', password } });

    const context = await browser.newContext({ baseURL: shop.url, viewport: { width: 390, height: 844 } });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A refusal that the page explains is written into the console by the browser itself.
      if (message.type() === 'error' && !message.text().includes('status of 403')) complaints.push(message.text());
    });
    const logIn = async (): Promise<void> => {
      await page.locator('input[name=email]').fill(email);
      await page.locator('input[name=password]').fill(password);
      await page.locator('#log-in button').click();
    };
    await page.goto('/board');
    await logIn();
    await page.locator('#notice', { hasText: 'staff grant EMAIL orders:read-all' }).waitFor();
    expect(await page.locator('#figures').isVisible()).toBe(false);

    await shop.grant(email, 'orders:read-all');
    await logIn();
    await page.locator('#services .well', { hasText: 'catalogue: ready' }).waitFor();
    const row = page.locator('#operations tr', { hasText: 'searchProducts' });
    expect(await row.count()).toBe(0);
    await Array.fromAsync(client.products({ price: { gte: 10 } }, { limit: 50 }));
    await row.waitFor();
    expect(Number(await row.locator('td').nth(1).textContent())).toBeGreaterThan(1);
    await page
      .locator('#processes tr', { hasText: 'notifications' })
      .locator('td', { hasText: /^1$/ })
      .first()
      .waitFor();
    await page.locator('#queues tr', { hasText: 'catalogue.inventory' }).waitFor();

    const products = await fetch(`${shop.url}/v1/products?status=active&limit=1`);
    const { items } = (await products.json()) as { items: { id: string }[] };
    const { data: tokens } = await client.call.POST('/v1/tokens', { body: { email, password } });
    const placed = await fetch(`${shop.url}/v1/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tokens?.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ items: [{ productId: items[0]?.id, quantity: 1 }] }),
    });
    const { id } = (await placed.json()) as { id: string };
    await page.locator('input[name=order]').fill(id);
    await page.locator('#find button').click();
    await page.locator('#found', { hasText: `Order ${id} is pending.` }).waitFor();
    await page.locator('#steps tr', { hasText: 'pending by customer' }).waitFor();
    await page.locator('#steps tr', { hasText: 'reserved 1 of' }).waitFor();
    await page.locator('#stock tr', { hasText: /reserved\s*[1-9]/ }).waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  },
  longEnough,
);
