// The adapter of examples/stripe with a running shop and a stand-in for Stripe. Afterwards the books of both are equal.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MachineSecret } from '@shop/accounts/operator';
import { createShop, type Shop } from '@shop/client';
import { freePorts } from '@shop/shared/embedded';
import { eventually, highHoldLimits } from '@shop/shared/testing';
import pg from 'pg';
import { askShop, launchShop, runningShop, runShop, type StartedShop } from '../../../cli/test/started-shop.ts';
import { booksOf } from '../../../services/orders/test/payment-books.ts';
import { unlimitedConfig } from '../../gateway-config.ts';
import {
  example,
  installStripe,
  type StandIn,
  type StartedAdapter,
  startAdapter,
  startStandIn,
} from './started-adapter.ts';
import type { Intent, Refund, WebhookFault } from './stripe-api.ts';

const password = 'a long and quiet river';
const root = fileURLToPath(new URL('../../..', import.meta.url));
const faults = ['none', 'late', 'twice', 'out-of-order', 'silent'] as const;

beforeAll(installStripe);

interface Money {
  readonly decimalsOf: (currency: string) => number;
  readonly toMinor: (amount: number, decimals: number) => number;
  readonly toMajor: (minor: number, decimals: number) => number;
}

async function loadMoney(): Promise<Money> {
  const load = async (name: string): Promise<object> => (await import(join(example, 'src', name))) as object;
  return { ...(await load('money.ts')), ...(await load('stripe.ts')) } as Money;
}

describe('the example for Stripe', () => {
  it('the example for Stripe has valid types', async () => {
    await promisify(execFile)('node_modules/.bin/tsc', ['--project', 'examples/stripe'], { cwd: root });
  });

  it.each([
    ['EUR', 29.99, 2999],
    ['EUR', 1.15, 115],
    ['JPY', 500, 500],
    ['KWD', 5.12, 5120],
    ['ISK', 5, 500],
    ['HUF', 10, 1000],
  ])('the example for Stripe converts %s %d to %d minor units and back', async (currency, major, minor) => {
    const { decimalsOf, toMinor, toMajor } = await loadMoney();
    expect(toMinor(major, decimalsOf(currency))).toBe(minor);
    expect(toMajor(minor, decimalsOf(currency))).toBe(major);
  });

  it('the example for Stripe refuses amounts that have no exact value in minor units', async () => {
    const { decimalsOf, toMinor } = await loadMoney();
    expect(() => toMinor(9.999, decimalsOf('EUR'))).toThrow(RangeError);
    expect(() => toMinor(1.5, decimalsOf('JPY'))).toThrow(RangeError);
    expect(() => decimalsOf('UGX')).toThrow(RangeError);
  });

  it('the example for Stripe names all faults of its settings and ends', async () => {
    const adapter = await startAdapter({ STRIPE_SECRET_KEY: '', SHOP_URL: 'shop', PORT: 'x' });
    expect(await adapter.ended).toBe(1);
    expect(adapter.output().trim().split('\n')).toEqual([
      'STRIPE_SECRET_KEY is missing',
      'SHOP_URL must be an http or https address, not shop',
      'SHOP_CLIENT_ID is missing',
      'SHOP_CLIENT_SECRET is missing',
      'PORT must be a whole number, 1 to 65535',
    ]);
  });
});

describe.each([
  { currency: 'EUR', price: 9.99, minor: 999 },
  { currency: 'JPY', price: 999, minor: 999 },
])('payments in $currency', ({ currency, price, minor }) => {
  let folder: string;
  let shop: StartedShop;
  let database: pg.Client;
  let staff: Shop;
  let productId: string;
  let standIn: StandIn;
  let settings: Record<string, string>;
  let adapter: StartedAdapter;
  /** Another process, which only reconciles and pays back. */
  let second: StartedAdapter;
  let address: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shop-stripe-'));
    // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
    await chmod(folder, 0o711);
    const GATEWAY_CONFIG_DIR = await unlimitedConfig(join(folder, 'config'));
    shop = await launchShop({
      dataDir: join(folder, 'data'),
      environment: { ...highHoldLimits, GATEWAY_CONFIG_DIR, PAYMENTS: 'required', SHOP_CURRENCY: currency },
    });
    await shop.ready;
    database = new pg.Client({ connectionString: (await runningShop(shop.dataDir)).databases.orders });
    await database.connect();

    const email = await register();
    await runShop(shop.dataDir, 'staff', 'grant', email, 'catalogue:write');
    staff = await logIn(email);
    const cup = { name: 'Cup', brand: 'Acme', category: 'Kitchen', price, status: 'active', stock: 1_000 } as const;
    ({ id: productId } = await staff.products.create(cup));

    const scopes = ['--scope', 'payments:write', 'orders:read-all'];
    const machine = await askShop<MachineSecret>(shop.dataDir, 'machines', 'create', 'stripe', ...scopes);
    const [port = 0] = await freePorts(1);
    address = `http://127.0.0.1:${port}`;
    standIn = await startStandIn(`${address}/webhook`);
    settings = {
      STRIPE_API_BASE: standIn.url,
      SHOP_URL: shop.gateway,
      SHOP_CLIENT_ID: machine.clientId,
      SHOP_CLIENT_SECRET: machine.clientSecret,
      PORT: String(port),
      PAY_BACK_SECONDS: '1',
      RECONCILE_SECONDS: '2',
    };
    adapter = await startAdapter(settings);
    second = await startSecond();
  });

  afterAll(async () => {
    await Promise.all([adapter?.stop(), second?.stop()]);
    standIn?.stop();
    await database?.end();
    await shop?.end();
    await rm(folder, { recursive: true, force: true });
  });

  async function startSecond(): Promise<StartedAdapter> {
    const [other = 0] = await freePorts(1);
    return startAdapter({ ...settings, PORT: String(other) });
  }

  async function register(): Promise<string> {
    const email = `${randomUUID()}@example.com`;
    await createShop({ baseUrl: shop.gateway }).register({ email, name: 'Kim Park', password });
    await runShop(shop.dataDir, 'accounts', 'verify-email', email);
    return email;
  }

  /** The token of the customer, which the page of the shop sends to the adapter. */
  let token = '';
  async function logIn(email: string): Promise<Shop> {
    const onTokens = (tokens?: { access_token: string }) => {
      token = tokens?.access_token ?? '';
    };
    const client = createShop({ baseUrl: shop.gateway, onTokens });
    await client.logIn({ email, password });
    return client;
  }

  async function begin(body: unknown, authorization = `Bearer ${token}`) {
    const headers = { 'Content-Type': 'application/json', ...(authorization && { Authorization: authorization }) };
    const response = await fetch(`${address}/payments`, { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as { clientSecret?: string; code?: string };
    return { ...answer, status: response.status, type: response.headers.get('content-type') };
  }

  /** Begins a payment. The adapter or Stripe may be unavailable at first. Undefined when the order is not due. */
  const begun = (orderId: string): Promise<string | undefined> =>
    eventually(async () => {
      const { status, clientSecret } = await begin({ orderId });
      if (status === 409) return undefined;
      expect([status, typeof clientSecret]).toEqual([200, 'string']);
      return clientSecret;
    }, 180_000);

  /** The customer pays an order that is due. */
  async function pay(orderId: string, fault: WebhookFault): Promise<void> {
    const intent = await begun(orderId);
    if (intent !== undefined) await standIn.act('pay', { intent, fault });
  }

  /** Money arrives for an order that the adapter did not ask for. */
  async function payOther(orderId: string, amount: number, fault: WebhookFault): Promise<string> {
    const metadata = { orderId };
    const { id } = await standIn.act<Intent>('intent', { amount, currency: currency.toLowerCase(), metadata });
    await standIn.act('pay', { intent: id, fault });
    return id;
  }

  const becomes = (customer: Shop, orderId: string, payment: object) =>
    eventually(async () => expect((await customer.orders.get(orderId)).payment).toMatchObject(payment), 180_000);

  it('the adapter begins one payment for a due order of the caller, and passes on the refusals of the shop', async () => {
    const stranger = await logIn(await register());
    const foreign = await stranger.orders.place({ items: [{ productId, quantity: 1 }] });
    const customer = await logIn(await register());
    const { id: orderId } = await customer.orders.place({ items: [{ productId, quantity: 2 }] });
    const problem = { type: 'application/problem+json' };
    expect(await begin({ orderId: foreign.id })).toMatchObject({ ...problem, status: 404, code: 'not-found' });
    expect(await begin({ orderId: '../accounts/me' })).toMatchObject({ ...problem, status: 400 });
    expect(await begin({ orderId }, '')).toMatchObject({ ...problem, status: 401, code: 'unauthenticated' });
    expect(await begin({ orderId }, 'Bearer x')).toMatchObject({ ...problem, status: 401 });
    expect(await begin({ order: orderId })).toMatchObject({ ...problem, status: 400, code: 'invalid-request' });

    const [one, other] = [await begin({ orderId }), await begin({ orderId })];
    expect(one).toMatchObject({ status: 200, type: 'application/json' });
    expect(one.clientSecret).toBe(other.clientSecret);
    const { intents } = await standIn.ledger();
    const asked = intents.filter(({ metadata }) => metadata.orderId === orderId);
    expect(asked).toMatchObject([{ amount: 2 * minor, currency: currency.toLowerCase() }]);
    await standIn.act('pay', { intent: one.clientSecret });
    await becomes(customer, orderId, { status: 'paid' });
    expect(await begin({ orderId })).toMatchObject({ ...problem, status: 409, code: 'order-not-due' });
  });

  it('the adapter refuses unsigned events, and accepts events that are not for an order of the shop', async () => {
    const body = JSON.stringify({ type: 'payment_intent.succeeded', data: { object: {} } });
    const headers = { 'Stripe-Signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}` };
    expect((await fetch(`${address}/webhook`, { method: 'POST', body, headers })).status).toBe(400);
    expect((await fetch(`${address}/webhook`, { method: 'POST', body })).status).toBe(400);
    const intent = { id: 'pi_foreign', amount_received: 500, currency: currency.toLowerCase(), status: 'succeeded' };
    const send = (metadata: object, type = 'payment_intent.succeeded') =>
      standIn.act('event', { type, object: { ...intent, metadata } });
    expect(await send({})).toEqual({ status: 204 });
    expect(await send({ orderId: 'A-1' })).toEqual({ status: 204 });
    expect(await send({ orderId: '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01' })).toEqual({ status: 204 });
    expect(await send({}, 'payment_intent.created')).toEqual({ status: 204 });
    expect(adapter.output()).toContain('The payment pi_foreign is not for an order.');
  });

  it('the adapter answers 503 while the shop or Stripe is unavailable, and continues afterwards', async () => {
    const customer = await logIn(await register());
    const { id: orderId } = await customer.orders.place({ items: [{ productId, quantity: 1 }] });
    await standIn.act('unavailable', { value: true });
    expect(await begin({ orderId })).toMatchObject({ status: 503, code: 'temporarily-unavailable' });
    await standIn.act('unavailable', { value: false });
    const [port = 0, nowhere = 0] = await freePorts(2);
    const alone = await startAdapter({ ...settings, SHOP_URL: `http://127.0.0.1:${nowhere}`, PORT: String(port) });
    await adapter.stop();
    const standingIn = await startAdapter({ ...settings, SHOP_URL: `http://127.0.0.1:${nowhere}` });
    const intent = { id: 'pi_1', amount_received: 1, currency: 'eur', status: 'succeeded', metadata: { orderId } };
    expect(await standIn.act('event', { type: 'payment_intent.succeeded', object: intent })).toEqual({ status: 503 });
    await Promise.all([standingIn.stop(), alone.stop()]);
    adapter = await startAdapter(settings);
    await pay(orderId, 'none');
    await becomes(customer, orderId, { status: 'paid' });
  });

  it('the adapter pays a refund that failed after the shop recorded it not again, and reports it for a person', async () => {
    const customer = await logIn(await register());
    const { id: orderId } = await customer.orders.place({ items: [{ productId, quantity: 1 }] });
    await pay(orderId, 'none');
    await becomes(customer, orderId, { status: 'paid' });
    await customer.orders.cancel(orderId);
    await becomes(customer, orderId, { status: 'refunded', refunded: price });
    const refundsOf = async (): Promise<Refund[]> =>
      (await standIn.ledger()).refunds.filter(({ metadata }) => metadata.orderId === orderId);
    const paid = (await refundsOf()).find(({ status }) => status === 'succeeded');
    const before = (await refundsOf()).length;
    await standIn.act('fail', { refund: paid?.id });
    await eventually(() =>
      expect(adapter.output()).toContain(`The refund ${paid?.id} for the order ${orderId} failed.`),
    );
    await sleep(3_000);
    expect(await refundsOf()).toHaveLength(before);
    failedLater.push(paid?.id ?? '');
  });
  const failedLater: string[] = [];

  /** What a customer does with an order of two units. The number decides it. */
  async function live(customer: Shop, orderId: string, number: number): Promise<void> {
    const fault = faults[number % faults.length] ?? 'none';
    const course = Math.floor(number / faults.length);
    const total = 2 * minor;
    const cancel = (lines?: number) =>
      customer.orders.cancel(orderId, lines === undefined ? {} : { lines: [{ productId, quantity: lines }] });
    if (course === 0) await pay(orderId, fault);
    // A wrong amount, and then the right one.
    else if (course === 1)
      await payOther(orderId, number % 2 === 0 ? total - 1 : total + 1_000, fault).then(() => pay(orderId, fault));
    // Two payments.
    else if (course === 2) await Promise.all([payOther(orderId, total, fault), pay(orderId, fault)]);
    // Paid and cancelled at the same time.
    else if (course === 3) await Promise.all([pay(orderId, fault), cancel()]);
    else if (course === 4) {
      // The order expires while the customer pays.
      const intent = await begun(orderId);
      await database.query('UPDATE order_payments SET due_at = now() WHERE order_id = $1', [orderId]);
      await becomes(customer, orderId, { status: 'cancelled' });
      await standIn.act('pay', { intent, fault });
    } else if (course === 5) {
      // One unit is cancelled, and later the other one: what is due grows while the first refund is in progress.
      await pay(orderId, fault);
      await becomes(customer, orderId, { status: 'paid' });
      await cancel(1);
      if (number % 2 === 0) await cancel(1);
    } else if (course === 6) {
      // The refund of two payments is more than any of them.
      await Promise.all([payOther(orderId, total, fault), pay(orderId, fault)]);
      await becomes(customer, orderId, { status: 'paid' });
      await cancel();
    } else if (course === 7) {
      // Staff pays a part back in the dashboard, before the order is cancelled.
      const intent = await payOther(orderId, total, fault);
      await becomes(customer, orderId, { status: 'paid' });
      await standIn.act('refund', { intent, amount: 1 });
      await cancel();
    } else if (course === 8) {
      // One unit is cancelled before the order is paid, so the amount of the first payment is wrong.
      const intent = await begun(orderId);
      await cancel(1);
      await standIn.act('pay', { intent, fault });
      await pay(orderId, fault);
    }
    // In course 9, the customer never pays.
  }

  it('the books of the shop and of Stripe are equal in the end, whatever was late, lost, repeated or killed', async () => {
    const customer = await logIn(await register());
    const ids: string[] = [];
    for (let number = 0; number < 10 * faults.length; number += 1) {
      ids.push((await customer.orders.place({ items: [{ productId, quantity: 2 }] })).id);
    }
    let isOver = false;
    const kills = (async () => {
      // Without a bound, an adapter on a slow machine would never end a reconciliation.
      for (let count = 0; !isOver && count < 6; count += 1) {
        await sleep(2_500);
        if (count % 2 === 0) {
          await adapter.stop('SIGKILL');
          adapter = await startAdapter(settings);
        } else {
          await second.stop('SIGKILL');
          second = await startSecond();
        }
      }
    })();
    try {
      const lives = await Promise.allSettled(ids.map((id, number) => live(customer, id, number)));
      expect(lives.filter(({ status }) => status === 'rejected')).toEqual([]);
      await sleep(5_000);
    } finally {
      isOver = true;
      await kills;
    }
    await eventually(async () => {
      const { intents, refunds } = await standIn.ledger();
      const known = new Set(ids);
      const received = intents.filter(({ metadata }) => known.has(metadata.orderId ?? ''));
      const names = new Set(received.map(({ id }) => id));
      const paidBack = refunds.filter((refund) => names.has(refund.payment_intent) && refund.status !== 'failed');
      const sum = (all: readonly { amount: number }[]): number => all.reduce((total, { amount }) => total + amount, 0);
      const books = await booksOf(database, ids);
      expect(books).toMatchObject({ owed: 0, faults: [] });
      expect(books.received).toBe(received.reduce((total, one) => total + one.amount_received, 0));
      expect(books.paidBack).toBe(sum(paidBack));
      expect(books.received).toBe(books.kept + books.paidBack);
      expect(paidBack.every(({ status }) => status === 'succeeded')).toBe(true);
    }, 180_000);
    const { rows } = await database.query<{ status: string; orders: number }>(
      'SELECT status, count(*)::int AS orders FROM order_payments WHERE order_id = ANY ($1::uuid[]) GROUP BY 1',
      [ids],
    );
    const states = new Map(rows.map(({ status, orders }) => [status, orders]));
    expect([states.get('due'), states.get('refund_due') ?? 0]).toEqual([5, 0]);
    expect(states.get('refunded') ?? 0).toBeGreaterThanOrEqual(15);
    expect(states.get('paid') ?? 0).toBeGreaterThanOrEqual(20);
    // The faults have happened.
    const { answers, refunds } = await standIn.ledger();
    expect(answers[400] ?? 0).toBe(0);
    expect(refunds.some(({ id, status }) => status === 'failed' && !failedLater.includes(id))).toBe(true);
  });
});
