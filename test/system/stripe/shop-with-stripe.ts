// A running shop whose orders have to be paid, the stand-in for Stripe, and two processes of the adapter between them.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { MachineSecret } from '@shop/accounts/operator';
import { createShop, type Order, type Shop } from '@shop/client';
import { freePorts } from '@shop/shared/embedded';
import { eventually } from '@shop/shared/testing';
import pg from 'pg';
import { askShop, launchShop, runningShop, runShop } from '../../../cli/test/started-shop.ts';
import { unlimitedConfig } from '../../gateway-config.ts';
import { type StartedAdapter, startAdapter, startStandIn } from './started-adapter.ts';
import type { Intent } from './stripe-api.ts';
import type { WebhookFault } from './stripe-webhooks.ts';

const password = 'a long and quiet river';
/** Milliseconds within which the adapter has done its work, with all faults, on a busy machine. */
const limit = 400_000;

export interface Customer {
  readonly client: Shop;
  /** The access token, which the page of the shop sends to the adapter. */
  token(): string;
}

export type ShopWithStripe = Awaited<ReturnType<typeof startShopWithStripe>>;

export interface ShopOptions {
  readonly currency: string;
  readonly decimals: number;
  /** The price of the product, in the currency of the shop. */
  readonly price: number;
  /** Whether Stripe has faults that no test plans. */
  readonly faults: boolean;
}

export async function startShopWithStripe({ currency, decimals, price, faults }: ShopOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'shop-stripe-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const GATEWAY_CONFIG_DIR = await unlimitedConfig(join(folder, 'config'));
  const shop = await launchShop({
    dataDir: join(folder, 'data'),
    environment: { GATEWAY_CONFIG_DIR, PAYMENTS: 'required', SHOP_CURRENCY: currency },
  });
  await shop.ready;
  const { databases } = await runningShop(shop.dataDir);
  const database = new pg.Client({ connectionString: databases.orders });
  await database.connect();

  async function newCustomer(...scopes: string[]): Promise<Customer> {
    const email = `${randomUUID()}@example.com`;
    let token = '';
    const client = createShop({
      baseUrl: shop.gateway,
      onTokens: (tokens) => {
        token = tokens?.access_token ?? '';
      },
    });
    await client.register({ email, name: 'Kim Park', password });
    await runShop(shop.dataDir, 'accounts', 'verify-email', email);
    if (scopes.length > 0) await runShop(shop.dataDir, 'staff', 'grant', email, ...scopes);
    await client.logIn({ email, password });
    return { client, token: () => token };
  }

  const { client: staff } = await newCustomer('catalogue:write');
  const cup = { name: 'Cup', brand: 'Acme', category: 'Kitchen', price, status: 'active', stock: 1_000 } as const;
  const { id: productId } = await staff.products.create(cup);
  const scopes = ['--scope', 'payments:write', 'orders:read-all'];
  const machine = await askShop<MachineSecret>(shop.dataDir, 'machines', 'create', 'stripe', ...scopes);
  const [port = 0, secondPort = 0] = await freePorts(2);
  const address = `http://127.0.0.1:${port}`;
  const standIn = await startStandIn({ webhook: `${address}/webhook`, faults });
  const settings: Readonly<Record<string, string>> = {
    STRIPE_API_BASE: standIn.url,
    SHOP_URL: shop.gateway,
    SHOP_CLIENT_ID: machine.clientId,
    SHOP_CLIENT_SECRET: machine.clientSecret,
    PAY_BACK_SECONDS: '1',
    RECONCILE_SECONDS: '2',
  };
  /** The first has the webhook and begins payments. The second only reconciles and pays back. */
  const adapters: StartedAdapter[] = [];
  const start = async (which: 0 | 1, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    adapters[which] = await startAdapter({ ...settings, PORT: String([port, secondPort][which]), ...more });
  };
  await start(0);
  await start(1);

  async function begin(customer: Customer, body: unknown, authorization = `Bearer ${customer.token()}`) {
    const headers = { 'Content-Type': 'application/json', ...(authorization && { Authorization: authorization }) };
    const response = await fetch(`${address}/payments`, { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as { clientSecret?: string; code?: string };
    return { ...answer, status: response.status, type: response.headers.get('content-type') };
  }

  /** Begins a payment. The adapter or Stripe may be unavailable at first. Undefined when the order is not due. */
  const begun = (customer: Customer, orderId: string): Promise<string | undefined> =>
    eventually(async () => {
      const { status, clientSecret } = await begin(customer, { orderId });
      if (status === 409) return undefined;
      expect([status, typeof clientSecret]).toEqual([200, 'string']);
      return clientSecret;
    }, limit);

  return {
    dataDir: shop.dataDir,
    database,
    standIn,
    address,
    newCustomer,
    begin,
    begun,
    toMinor: (amount: number): number => Math.round(amount * 10 ** decimals),
    /** What both adapters have logged since their starts. */
    output: (): string => adapters.map((adapter) => adapter.output()).join(''),
    eventually: <T>(check: () => Promise<T> | T): Promise<T> => eventually(check, limit),
    start,
    stop: (which: 0 | 1, signal?: NodeJS.Signals) => adapters[which]?.stop(signal),

    place: ({ client }: Customer, quantity: number): Promise<Order> =>
      client.orders.place({ items: [{ productId, quantity }] }),

    /** Cancels units of an order; by default all of it. */
    async cancel({ client }: Customer, orderId: string, units?: number): Promise<void> {
      await client.orders.cancel(orderId, units === undefined ? {} : { lines: [{ productId, quantity: units }] });
    },

    /** The customer pays an order that is due. */
    async pay(customer: Customer, orderId: string, fault: WebhookFault): Promise<void> {
      const intent = await begun(customer, orderId);
      if (intent !== undefined) await standIn.act('pay', { intent, fault });
    },

    /** Money arrives for an order that the adapter did not ask for. @returns the payment */
    async payOther(orderId: string, amount: number, fault: WebhookFault): Promise<string> {
      const metadata = { orderId };
      const { id } = await standIn.act<Intent>('intent', { amount, currency: currency.toLowerCase(), metadata });
      await standIn.act('pay', { intent: id, fault });
      return id;
    },

    /** Waits until the payment of an order has these members. */
    becomes({ client }: Customer, orderId: string, payment: object): Promise<void> {
      return eventually(async () => {
        expect((await client.orders.get(orderId)).payment).toMatchObject(payment);
      }, limit);
    },

    async end(): Promise<void> {
      await Promise.all(adapters.map((adapter) => adapter.stop()));
      standIn.stop();
      await database.end();
      await shop.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
