// The headline of the board while the broker or the database is stopped: the cause comes first, then its symptoms.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { type EmbeddedPostgres, freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { type BrokerServer, eventually, startBrokerServer } from '@shop/shared/testing';
import type { Browser, Page } from 'playwright-core';
import { launchShop, runShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { startChromium } from './chromium.ts';

const password = 'a long and quiet river';
const email = `${randomUUID()}@example.com`;
/** Milliseconds. An event counts as late after half of them. */
const noticedWithin = 60_000;

let folder: string;
let postgres: { readonly dataDir: string; readonly port: number; readonly durable: true };
let database: EmbeddedPostgres;
let broker: BrokerServer;
let browser: Browser;
let shop: StartedShop;
let page: Page;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-board-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const [port = 0] = await freePorts(1);
  postgres = { dataDir: join(folder, 'postgres'), port, durable: true };
  [database, broker, browser] = await Promise.all([
    startEmbeddedPostgres(postgres),
    startBrokerServer({ own: true }),
    startChromium(),
  ]);
  const environment = { DATABASE_URL: new URL('/shop', database.url).href, EVENTS_URL: broker.url };
  shop = await launchShop({ dataDir: join(folder, 'data'), environment });
  await shop.ready;
  await createShop({ baseUrl: shop.gateway }).call.POST('/v1/accounts', { body: { email, name: 'Kim', password } });
  const granted = await runShop(shop.dataDir, environment, 'staff', 'grant', email, 'orders:read-all');
  expect(granted).toMatchObject({ code: 0 });
  page = await browser.newPage();
  page.setDefaultTimeout(noticedWithin);
  await page.goto(`${shop.gateway}/board`);
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('#log-in button').click();
  await untilWell();
});

afterAll(async () => {
  await browser?.close();
  await shop?.end();
  await Promise.all([broker?.stop(), database?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const untilWell = (): Promise<void> => page.locator('#faults', { hasText: 'All is well.' }).waitFor();

/** What the headline names, in its order. The requests that failed meanwhile depend on the time. */
async function headline(): Promise<string[]> {
  const all = await page.locator('#faults strong').allTextContents();
  return all.filter((line) => !/requests? failed|slow requests|\d+ of \d+ failed/.test(line));
}

async function untilFirst(...expected: (string | RegExp)[]): Promise<void> {
  await eventually(async () => {
    const lines = await headline();
    expect(lines.slice(0, expected.length)).toEqual(
      expected.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
    );
  }, noticedWithin);
}

it('the board names the broker before the process that is not ready and the events that wait', async () => {
  await broker.kill();
  await untilFirst('broker: unreachable.', 'notifications: check events fails.');
  // The event of this account waits in the outbox.
  const other = { email: `${randomUUID()}@example.com`, name: 'Kim', password };
  await createShop({ baseUrl: shop.gateway }).call.POST('/v1/accounts', { body: other });
  await untilFirst(
    'broker: unreachable.',
    'notifications: check events fails.',
    /^database of accounts: events wait since \d+ s\.$/,
  );
  await broker.start();
  await untilWell();
});

it('the board names the database before the services that lack it', async () => {
  await database.stop();
  await untilFirst(
    'database of accounts, catalogue, changes, notifications, orders: unreachable.',
    'accounts, orders, changes, catalogue, notifications: check database fails.',
  );
  const first = page.locator('#faults li').first();
  expect(await first.textContent()).toContain('Does PostgreSQL run');
  expect(await first.locator('a').getAttribute('href')).toBe('/docs/runbooks/service-unreachable');
  database = await startEmbeddedPostgres(postgres);
  await eventually(async () => expect(await headline()).toEqual([]), noticedWithin);
});
