// The last release is replaced by this one, process by process, while customers order, and then replaced again, after
// the migrations. Both work side by side over one PostgreSQL and one broker. No request is lost, nothing is lost or
// happens twice, and each release accepts what clients have from the other.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { Pool } from 'undici';
import { password, register, signToken } from '../../faults/outages/accounts.ts';
import { answerViolations, noInterruption } from '../../faults/outages/answers.ts';
import { placeOrder, startShopping } from '../../faults/outages/buyers.ts';
import { violations } from '../../faults/outages/checker.ts';
import { identity } from '../../faults/outages/deployment.ts';
import type { Buyer, Journal, OrderOutcome } from '../../faults/outages/journal.ts';
import { type MailWatch, watchMails } from '../../faults/outages/mail-watch.ts';
import { addProducts } from '../../faults/outages/products.ts';
import { untilQuiet } from '../../faults/outages/unrest.ts';
import { browse, type Customer } from '../../faults/restarts/customers.ts';
import { answeredWithin } from '../../faults/restarts/replicated-shop.ts';
import { type LoadReport, startLoad } from '../../faults/restarts/steady-load.ts';
import { acquire, emailsAbout, emailToken, type Possessions, repeat, send, untilEmailed } from './possessions.ts';
import { migrateWith, startPreviousRelease, type UpgradedShop } from './upgraded-shop.ts';

/** The requests a second of customers that read. The buyers add some, as fast as they get their responses. */
const perSecond = 300;
const patience = 180_000;
const stock = 1_000_000;

const journal: Journal = { answers: [], orders: [], accounts: [] };
const customers: Customer[] = [];
const buyers: Buyer[] = [];
let payer: Buyer;
let productIds: string[];
let shop: UpgradedShop;
let mails: MailWatch;
let pool: Pool;

beforeAll(async () => {
  shop = await startPreviousRelease();
  mails = await watchMails(shop.mailFolder);
  // Idle connections are closed before a stopping gateway stops answering.
  pool = new Pool(shop.url, { connections: 100, keepAliveTimeout: 3_000, keepAliveMaxTimeout: 3_000 });
  productIds = await addProducts(shop.admin, 12, stock);
  payer = await member('payer', 'payments:write');
  for (let index = 0; index < 4; index += 1) buyers.push(await member(`buyer-${index}`));
  for (let index = 0; index < 40; index += 1) {
    const { token } = await member(`reader-${index}`);
    customers.push({ token, address: `10.1.2.${index + 1}` });
  }
}, 600_000);
afterAll(async () => {
  await pool?.destroy();
  mails?.close();
  await shop?.stop();
}, 120_000);

/** A customer with a verified address, or a machine with the scope. */
async function member(name: string, scope?: 'payments:write'): Promise<Buyer> {
  const accountId = await register(journal, shop.url, name);
  const token = await emailToken(shop, `${name}@example.com`, 'email-verification');
  expect((await send(shop, '/v1/email-verifications', { body: { token } })).status).toBe(204);
  // The command of this release needs its migrations.
  if (scope !== undefined)
    await shop.admin.query('UPDATE accounts.accounts SET scopes = ARRAY[$2] WHERE id = $1', [accountId, scope]);
  return signToken(shop.admin, identity, accountId, scope === undefined ? [] : [scope]);
}

describe.each([
  { title: 'from the last release to this one', from: 'old', to: 'new', seed: 1 },
  { title: 'from this release back to the last one', from: 'new', to: 'old', seed: 2 },
] as const)('$title', ({ from, to, seed }) => {
  let held: Possessions;
  let reset: { readonly email: string; readonly token: string };

  it('a replacement of each process loses no request', async () => {
    held = await acquire(shop, journal, productIds, `holder-of-${from}`);
    await member(`forgetful-of-${from}`);
    const email = `forgetful-of-${from}@example.com`;
    expect((await send(shop, '/v1/password-resets', { body: { email } })).status).toBe(202);
    reset = { email, token: await emailToken(shop, email, 'password-reset') };

    const shopping = startShopping({ gatewayUrl: shop.url, buyers, payer, productIds, seed });
    // Three of four requests read a list of products, which costs least.
    const load = startLoad(perSecond, (turn) => browse(pool, customers, turn % 4 === 0 ? turn / 4 : 4 * turn));
    const began = performance.now();
    const endings: unknown[] = [];
    let read: LoadReport;
    try {
      // The schema stays as it is when the last release returns.
      if (to === 'new') expect(await migrateWith(shop.trees.new, shop.database)).toContain('9001_gift_note.sql');
      const isFirst = ({ name }: { readonly name: string }) => /^(accounts|orders) /.test(name);
      const replaceAll = async (processes: UpgradedShop['processes']): Promise<void> => {
        for (const process of processes) endings.push(await shop.replace(process, { tree: shop.trees[to] }));
      };
      await replaceAll(shop.processes.filter(isFirst));
      await expectEventsHandled(`between-${from}-and-${to}`);
      await replaceAll(shop.processes.filter((process) => !isFirst(process)));
    } finally {
      [read] = await Promise.all([load.stop(), shopping.stop()]);
      journal.orders.push(...shopping.journal.orders);
    }
    const { requests, pace, failures } = read;
    const seconds = (performance.now() - began) / 1_000;
    const { answers } = shopping.journal;
    const all = requests + answers.length;
    const slowest = Math.max(read.slowest, ...answers.map(({ at, until }) => until - at));
    process.stdout.write(
      `${from} to ${to}: ${all} requests (${shopping.journal.orders.length} orders) in ${seconds.toFixed(0)} s, ` +
        `${(all / seconds).toFixed(0)} a second (wanted ${perSecond}), while ${endings.length} processes were replaced; ` +
        `the slowest request took ${slowest.toFixed(0)} ms (pace ${pace.toFixed(1)})\n`,
    );
    expect(failures).toEqual([]);
    expect(slowest).toBeLessThan(answeredWithin * pace);
    expect(answerViolations([...journal.answers.splice(0), ...answers], noInterruption)).toEqual([]);
    expect(endings).toEqual(shop.processes.map(() => [0, null]));
  }, 900_000);

  it('an upgrade continues the lists of orders and products after a cursor of the other release', async () => {
    for (const { path, ids, cursor } of held.lists) {
      const page = await send(shop, `${path}?limit=1&cursor=${cursor}`, { token: held.accessToken });
      expect(page).toMatchObject({ status: 200, body: { items: [{ id: ids[1] }] } });
    }
  });

  it('the new release repeats the response of the other release to an idempotency key', async () => {
    expect(await repeat(shop, held.accessToken, held.order)).toEqual({ status: 201, replayed: true, body: held.view });
  });

  it('an upgrade accepts an access token, and renews a refresh token, of the other release', async () => {
    const { accessToken, refreshToken, accountId } = held;
    const me = await send(shop, '/v1/accounts/me', { token: accessToken });
    expect(me).toMatchObject({ status: 200, body: { id: accountId } });
    const renewed = await send(shop, '/v1/tokens', { body: { refresh_token: refreshToken } });
    expect(renewed.status).toBe(200);
    const again = await send(shop, '/v1/accounts/me', { token: renewed.body.access_token });
    expect(again).toMatchObject({ status: 200, body: { id: accountId } });
  });

  it('an upgrade verifies an address by a token of the other release, and sends its queued e-mail', async () => {
    const { orderId = '' } = held.order;
    expect(await emailsAbout(shop, orderId)).toBe(0);
    const body = { token: held.verificationToken };
    expect((await send(shop, '/v1/email-verifications', { body })).status).toBe(204);
    await untilEmailed(shop, held.order);
  });

  it('an upgrade sets a password by a token of the other release', async () => {
    const body = { token: reset.token, password: `${password} and longer` };
    expect((await send(shop, '/v1/password-resets/confirm', { body })).status).toBe(204);
    const logIn = await send(shop, '/v1/tokens', { body: { email: reset.email, password: body.password } });
    expect(logIn.status).toBe(200);
  });

  it('an upgrade loses nothing, and nothing happens twice', async () => {
    expect(await untilQuiet(shop, patience)).toEqual([]);
    const initial = new Map(productIds.map((id) => [id, stock]));
    expect(await violations(shop, journal, initial)).toEqual([]);
    expect(mails.replaced()).toEqual([]);
  });
});

/**
 * Expects that events are handled in both directions: accounts and orders run one release, and catalogue and
 * notifications the other one. Orders sends both the created and the cancelled order. The catalogue then reports the
 * released stock to orders, and notifications the sent e-mail.
 */
async function expectEventsHandled(name: string): Promise<void> {
  const { accountId, token } = await member(name);
  const [productId = ''] = productIds;
  const order: OrderOutcome = { key: name, accountId, lines: [{ productId, quantity: 1 }] };
  journal.orders.push(order);
  await placeOrder(journal, shop.url, token, order);
  await untilEmailed(shop, order);
  const path = `/v1/orders/${order.orderId}`;
  order.cancelled = (await send(shop, `${path}/cancel`, { token, body: {} })).status;
  expect(order.cancelled).toBe(200);
  await eventually(async () => {
    const { body } = await send(shop, path, { token });
    expect(body.cancellation).toMatchObject({ stockReleased: { state: 'done' }, customerNotified: { state: 'done' } });
  }, 60_000);
  // Notifications opens the token that accounts has encrypted.
  expect((await send(shop, '/v1/password-resets', { body: { email: `${name}@example.com` } })).status).toBe(202);
  await emailToken(shop, `${name}@example.com`, 'password-reset');
}
