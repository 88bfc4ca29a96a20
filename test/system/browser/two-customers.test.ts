// Two customers use one browser one after the other, and each of them sees the own account.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { startChromium } from './chromium.ts';

let folder: string;
let shop: StartedShop;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-browser-'));
  await chmod(folder, 0o711);
  browser = await startChromium();
  shop = await launchShop({ dataDir: join(folder, 'data') });
  await shop.ready;
});

afterAll(async () => {
  await browser?.close();
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

/** The program in the page. Both accounts have the same version, and the browser stores what it may. */
const program = `(async () => {
  const send = async (path, { body, token } = {}) => {
    const response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: 'Bearer ' + token }) },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const names = [];
  for (const name of ['Kim', 'Lee', 'Kim']) {
    const login = { email: name + '@example.com', password: 'a long and quiet river' };
    await send('/v1/accounts', { body: { ...login, name } });
    const { access_token: token } = await send('/v1/tokens', { body: login });
    names.push((await send('/v1/accounts/me', { token })).name);
  }
  return names;
})()`;

it('the reference shows each of two customers their own account', async () => {
  const page = await browser.newPage();
  await page.goto(`${shop.gateway}/docs`);
  expect(await page.evaluate(program)).toEqual(['Kim', 'Lee', 'Kim']);
});
