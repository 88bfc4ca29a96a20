// The documentation of a started shop in a real browser.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type RunningShop, startShop } from '../../running-shop.ts';
import { startChromium } from './chromium.ts';

export interface Visit {
  readonly page: Page;
  /** Collects console errors and warnings, uncaught errors, and requests to other hosts. */
  readonly complaints: string[];
}

export class Documentation {
  readonly shop: RunningShop;
  readonly #browser: Browser;

  constructor(shop: RunningShop, browser: Browser) {
    this.shop = shop;
    this.#browser = browser;
  }

  /** Opens a page, and opens it again when the machine's network changed meanwhile, which aborts loading. */
  async visit(path: string, options: BrowserContextOptions = {}): Promise<Visit> {
    for (let left = 3; ; left--) {
      const context = await this.#browser.newContext({ baseURL: this.shop.url, ...options });
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url());
        if (protocol !== 'data:' && origin !== new URL(this.shop.url).origin)
          complaints.push(`request to ${request.url()}`);
      });
      await page.goto(path, { waitUntil: 'load' }).catch((error: Error) => complaints.push(error.message));
      if (left === 0 || !complaints.some((complaint) => complaint.includes('ERR_NETWORK_CHANGED')))
        return { page, complaints };
      await context.close();
    }
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.shop.stop();
  }
}

/** Starts a shop and a browser. */
export async function openDocumentation(): Promise<Documentation> {
  const [shop, browser] = await Promise.all([startShop(), startChromium()]);
  return new Documentation(shop, browser);
}

/**
 * Returns the luminance of the page and of its first heading, from 0 (black) to 1 (white). A page that sets no colour
 * has the browser's default.
 */
export async function lightness(page: Page): Promise<{ ground: number | undefined; text: number }> {
  const [body = '', root = '', heading = ''] = await page.evaluate<string[]>(
    `[document.body, document.documentElement, document.querySelector('main h1, main h2')]
      .map((element, index) => getComputedStyle(element)[index === 2 ? 'color' : 'backgroundColor'])`,
  );
  const ground = [body, root].find((colour) => colour !== 'rgba(0, 0, 0, 0)');
  return { ground: ground === undefined ? undefined : lightnessOf(ground), text: lightnessOf(heading) };
}

function lightnessOf(colour: string): number {
  const parts = (colour.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  return parts.reduce((sum, part) => sum + part, 0) / 765;
}
