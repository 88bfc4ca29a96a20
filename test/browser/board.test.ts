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
      await page.locator('button').click();
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
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  },
  longEnough,
);
