// The storefront of a started shop with the demo catalogue, in a real browser.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { startChromium } from './chromium.ts';

export interface Storefront {
  readonly shop: StartedShop;
  /** Opens a page in a browser of its own, and waits until the page has its content. */
  visit(path: string, options?: BrowserContextOptions): Promise<Visit>;
  stop(): Promise<void>;
}

export interface Visit {
  readonly page: Page;
  /** Collects the messages of the console, uncaught errors, and requests to other hosts. */
  readonly complaints: string[];
}

export async function openStorefront(): Promise<Storefront> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-storefront-'));
  const [shop, browser] = await Promise.all([launchShop({ dataDir: join(folder, 'data') }), startChromium()]);
  await shop.ready;
  return {
    shop,
    async visit(path, options = {}) {
      const context = await browser.newContext({ baseURL: shop.gateway, locale: 'en', ...options });
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== shop.gateway) complaints.push(`request to ${request.url()}`);
      });
      await page.goto(path);
      await settled(page);
      return { page, complaints };
    },
    async stop() {
      await browser.close();
      await shop.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until no part of the page is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await eventually(async () => expect(await page.locator('[aria-busy=true]').count()).toBe(0));
}
