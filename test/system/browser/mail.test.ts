// The e-mails of `npm start` in a real browser: a customer registers, opens the e-mail, and follows its link.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { eventually } from '@shop/shared/testing';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type RunningShop, startShop } from '../../running-shop.ts';
import { findings } from './accessibility.ts';
import { startChromium } from './chromium.ts';
import { screens } from './screens.ts';

const password = 'a long and quiet river';
const hostileName = 'hostile.order-received';
const subjects = {
  verification: 'Please confirm your e-mail address',
  reset: 'Set a new password',
} as const;

let shop: RunningShop;
let browser: Browser;
let client: ReturnType<typeof createShop>;
let complaints: string[] = [];

beforeAll(async () => {
  [shop, browser] = await Promise.all([startShop(), startChromium()]);
  client = createShop({ baseUrl: shop.url });
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  expect(complaints).toEqual([]);
  complaints = [];
});

afterAll(async () => {
  await browser?.close();
  await shop?.stop();
});

/** Opens the list. `complaints` contains the errors of the browser, and requests to other hosts. */
async function openMail(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ baseURL: shop.url, ...options });
  context.setDefaultTimeout(60_000);
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(shop.url).origin) complaints.push(`request to ${request.url()}`);
  });
  const page = await context.newPage();
  await page.goto(`/mail?key=${await mailPageKey()}`);
  return page;
}

/** The key that the address printed by `npm start` contains. */
async function mailPageKey(): Promise<string> {
  const secrets = JSON.parse(await readFile(join(shop.dataDir, 'secrets.json'), 'utf8')) as { mailPageKey: string };
  return secrets.mailPageKey;
}

async function register(): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  await client.call.POST('/v1/accounts', { body: { email, name: 'Kim', password } });
  return email;
}

/** Loads the list until it has the e-mail, and opens it. */
async function openEmail(page: Page, email: string, subject: string): Promise<void> {
  const row = page.locator('tr', { hasText: email }).filter({ hasText: subject });
  await eventually(async () => {
    await page.goto('/mail');
    if ((await row.count()) === 0) throw new Error(`${email} has got no e-mail "${subject}"`);
  }, 20_000);
  await row.getByRole('link').click();
  await page.locator('h1', { hasText: subject }).waitFor();
}

/** Follows the link of the e-mail, which opens a page of its own. */
async function follow(page: Page, link: string): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await page.frameLocator('iframe').getByRole('link', { name: link }).click();
  const target = await opened;
  await target.waitForLoadState();
  return target;
}

const tokensOf = (email: string, secret: string) =>
  client.call.POST('/v1/tokens', { body: { email, password: secret } });

const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

describe('/mail', () => {
  it.each(screens)(
    'the page /mail asks a browser without the key on a %s in the %s color scheme to open the printed address',
    async (_device, colorScheme, viewport) => {
      const context = await browser.newContext({ baseURL: shop.url, colorScheme, viewport });
      const page = await context.newPage();
      await page.goto('/mail');
      await page.getByText('Open the address that npm start prints').waitFor();
      expect([await overflow(page), await findings(page)]).toEqual([0, []]);
    },
  );

  it('/mail lets a customer confirm the address by the link of the e-mail', async () => {
    const email = await register();
    const page = await openMail();
    await openEmail(page, email, subjects.verification);
    expect(await page.locator('dl').textContent()).toContain(email);
    await page.locator('pre', { hasText: 'It works once' }).waitFor();
    const target = await follow(page, 'Confirm the address');
    await target.getByRole('button', { name: 'Confirm the address' }).click();
    await target.getByText('The address is confirmed.').waitFor();
    const { data: tokens } = await tokensOf(email, password);
    const account = await fetch(`${shop.url}/v1/accounts/me`, {
      headers: { Authorization: `Bearer ${tokens?.access_token}` },
    });
    expect(await account.json()).toMatchObject({ email, email_verified: true });
  });

  it('/mail lets a customer set a new password, and shows why one is rejected', async () => {
    const email = await register();
    await client.call.POST('/v1/password-resets', { body: { email } });
    const page = await openMail();
    await openEmail(page, email, subjects.reset);
    const target = await follow(page, 'Set a new password');
    const button = target.getByRole('button', { name: 'Set the password' });
    await target.getByLabel('New password').fill('short');
    await button.click();
    await target.locator('#result.danger', { hasText: 'must not have fewer than 8 characters' }).waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('status of 400')]);
    await target.getByLabel('New password').fill('an old oak and a river');
    await button.click();
    await target.locator('#result.success', { hasText: 'The new password is valid' }).waitFor();
    const { data: tokens } = await tokensOf(email, 'an old oak and a river');
    expect(tokens?.access_token).toEqual(expect.any(String));
  });

  it.each(screens)(
    '/mail fits a %s in the %s color scheme and is accessible',
    async (_device, colorScheme, viewport) => {
      const email = await register();
      const page = await openMail({ colorScheme, viewport });
      await openEmail(page, email, subjects.verification);
      await page.frameLocator('iframe').getByRole('link', { name: 'Confirm the address' }).waitFor();
      const addresses = ['/mail', new URL(page.url()).pathname, '/mail/verify-email', '/mail/reset-password'];
      for (const address of addresses) {
        await page.goto(address);
        expect([address, await overflow(page), await findings(page)]).toEqual([address, 0, []]);
      }
    },
  );

  it('/mail runs no script of an e-mail, and sends none of its requests', async () => {
    const requests: string[] = [];
    const elsewhere = createServer((request, response) => {
      requests.push(String(request.url));
      response.end();
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const { port } = elsewhere.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}`;
    const attack = `<!doctype html><html><head><link rel="stylesheet" href="${address}/style">
<meta http-equiv="refresh" content="0;url=${address}/refresh"></head><body><h1>Attack</h1>
<script>parent.document.title = 'attacked'; fetch('${address}/script');</script>
<img src="${address}/image" onerror="parent.document.title = 'attacked'">
<form action="${address}/form" method="post"><button>Send</button></form></body></html>`;
    const file = ['To: kim@example.com', 'Subject: <b>Attack</b>', 'Content-Type: text/html', '', attack].join('\r\n');
    await writeFile(join(shop.dataDir, 'mail', `${hostileName}.eml`), file);
    try {
      const page = await openMail();
      await page.goto(`/mail/${hostileName}`);
      const frame = page.frameLocator('iframe');
      await frame.getByRole('button', { name: 'Send' }).click();
      await page.waitForTimeout(500);
      expect(await page.title()).toBe('<b>Attack</b> · Shop API');
      await frame.getByRole('heading', { name: 'Attack' }).waitFor();
      expect(requests).toEqual([]);
      // The browser has reported each thing that the policy forbids.
      expect(complaints.splice(0).length).toBeGreaterThan(0);
    } finally {
      elsewhere.close();
    }
  });
});
