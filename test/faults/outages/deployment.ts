// The processes of the shop, two of each service, over given servers.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StaffScope } from '@shop/accounts/operator';
import { migrate, provisionDatabase, type SchemaName, schemas, withClient } from '@shop/shared/database';
import { freePorts } from '@shop/shared/embedded';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import { eventually, highHoldLimits } from '@shop/shared/testing';
import pg from 'pg';
import { configForRegistrations } from '../../gateway-config.ts';
import { grant, register, signToken, verify } from './accounts.ts';
import type { Buyer, Journal } from './journal.ts';
import { type MailWatch, watchMails } from './mail-watch.ts';
import { prepareChecks } from './prepare-checks.ts';
import { configurePrices, priceVariables } from './prices.ts';
import { startProxy } from './proxy.ts';
import { createRandom } from './random.ts';
import { type Supervised, supervise } from './supervised.ts';

export interface Deployment {
  readonly gatewayUrl: string;
  /** A pool that reads all schemas over the administrator's address. Tables without a schema are those of orders. */
  readonly admin: pg.Pool;
  readonly urls: Readonly<Record<SchemaName, string>>;
  readonly mailFolder: string;
  readonly mails: MailWatch;
  /** The address of the broker for the checker, on which no fault acts. */
  readonly brokerUrl: string;
  /** The buyers of every round. */
  readonly buyers: readonly Buyer[];
  /** Returns all processes of a service. */
  processes(name: ServiceName | 'gateway'): readonly Supervised[];
  /** Returns all processes except those of the gateway. */
  services(): readonly Supervised[];
  all(): readonly Supervised[];
  /** Runs `use` with a connection of the catalogue's own role. */
  catalogueClient<T>(use: (client: pg.Client) => Promise<T>): Promise<T>;
  /** The machine that reports payments. */
  readonly payer: Buyer;
  /** Ships orders, handles returns, changes the settings of prices and has the webhook. */
  readonly staff: Buyer;
  /** A new customer, with the scopes that are given. */
  buyer(name: string, ...scopes: readonly StaffScope[]): Promise<Buyer>;
  /** Resolves when every process is ready, and the gateway reports all services as ready. */
  untilReady(within: number): Promise<void>;
  stop(): Promise<void>;
}

export interface ShopOptions {
  readonly seed: number;
  readonly buyers: number;
  /** The journal in which registrations are recorded. */
  readonly journal: Journal;
}

export interface Servers {
  /** The superuser's connection string, for the database `postgres`. */
  readonly adminUrl: string;
  /** Returns the host and port of PostgreSQL for a replica of a service, or several, separated by commas. */
  databaseHost(service: ServiceName, replica: number): string;
  /** The address of the broker for the checker, on which no fault acts. */
  readonly brokerUrl: string;
  /** The address of the broker for the services. */
  readonly eventsUrl: string;
  /** The Redis in which two gateways share their limits. Without one, there is one gateway. */
  readonly redisUrl?: string;
}

const replicas = 2;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const password = 'only-for-tests';
/** Role → password. */
export const roles = Object.fromEntries(schemas.map((name) => [name, password])) as Record<SchemaName, string>;

/** The issuer of the access tokens, and the secret of its signing keys. */
export const identity = {
  issuer: 'https://shop.test',
  audience: 'shop',
  keySecret: Buffer.alloc(32, 7).toString('base64url'),
};

/**
 * Migrates the database, starts all processes and waits until they are ready. The function is longer than others,
 * because each step needs the results of those before it and registers how it is undone.
 */
export async function deploy(
  { adminUrl, databaseHost, brokerUrl, eventsUrl, redisUrl }: Servers,
  { seed, buyers, journal }: ShopOptions,
): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-outages-mail-'));
  await chmod(folder, 0o711);
  const mailFolder = join(folder, 'mail');
  const configFolder = await configForRegistrations(join(folder, 'config'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const mails = await watchMails(mailFolder);
    stops.push(async () => mails.close());
    const urls = await provisionDatabase({ adminUrl, database: 'shop', roles });
    await Promise.all(
      serviceNames.map((name) => migrate({ url: urls[name], folder: `${root}services/${name}/migrations` })),
    );

    const gateways = redisUrl === undefined ? 1 : replicas;
    const ports = await freePorts(serviceNames.length * replicas + gateways);
    const gatewayPorts = ports.splice(serviceNames.length * replicas);
    const portsOf = (name: ServiceName): number[] =>
      ports.slice(serviceNames.indexOf(name) * replicas).slice(0, replicas);
    const direct = (name: ServiceName): string =>
      portsOf(name)
        .map((port) => `http://127.0.0.1:${port}`)
        .join(',');
    // All processes of a service, and all gateways, share one address, as in a cluster.
    const balanced = async (addresses: readonly number[]): Promise<string> => {
      const proxy = await startProxy(addresses.map((port) => ({ host: '127.0.0.1', port })));
      stops.push(() => proxy.close());
      return `http://127.0.0.1:${proxy.port}`;
    };
    const [accounts, orders, catalogue, notifications, changes, gatewayUrl] = await Promise.all([
      balanced(portsOf('accounts')),
      balanced(portsOf('orders')),
      balanced(portsOf('catalogue')),
      balanced(portsOf('notifications')),
      balanced(portsOf('changes')),
      gateways === 1 ? `http://127.0.0.1:${gatewayPorts[0]}` : balanced(gatewayPorts),
    ]);
    const shared = {
      HOST: '127.0.0.1',
      EVENTS_URL: eventsUrl,
      JWKS_URL: `${accounts}/.well-known/jwks.json`,
      JWT_ISSUER: identity.issuer,
      JWT_AUDIENCE: identity.audience,
      INTERNAL_SECRET: 'only-for-tests-only-for-tests-only-for-tests',
      KEY_ENCRYPTION_SECRET: identity.keySecret,
      CURSOR_KEYS: Buffer.alloc(32, 8).toString('base64url'),
      WEBHOOK_KEYS: Buffer.alloc(32, 9).toString('base64url'),
      WEBHOOKS_ALLOW: '127.0.0.0/8',
      MAIL_DIR: mailFolder,
      RESERVATION_SECONDS: '3',
      EMAILS_PER_HOUR: '1000000',
      // Orders have to be paid, and none expires while the clocks are changed.
      PAYMENTS: 'required',
      PAYMENT_DUE_MINUTES: '10000',
      ...priceVariables,
      ...highHoldLimits,
    };
    const random = createRandom(seed);
    const started = new Map<ServiceName | 'gateway', Supervised[]>();
    const all = (): Supervised[] => [...started.values()].flat();
    stops.push(() => Promise.all(all().map((each) => each.stop())));
    // The class URL refuses several hosts.
    const databaseUrl = (name: ServiceName, index: number): string =>
      urls[name].replace(new URL(urls[name]).host, databaseHost(name, index));
    for (const name of serviceNames) {
      started.set(
        name,
        portsOf(name).map((port, index) =>
          supervise({
            name: `${name} ${index + 1}`,
            url: `http://127.0.0.1:${port}`,
            random,
            main: `${root}services/${name}/src/main.ts`,
            environment: {
              ...shared,
              DATABASE_URL: databaseUrl(name, index),
              PORT: String(port),
              ACCOUNTS_URL: accounts,
              ORDERS_URL: orders,
              CATALOGUE_URL: catalogue,
              NOTIFICATIONS_URL: notifications,
              CHANGES_URL: changes,
            },
          }),
        ),
      );
    }
    started.set(
      'gateway',
      gatewayPorts.map((port, index) =>
        supervise({
          name: index === 0 ? 'gateway' : `gateway ${index + 1}`,
          url: `http://127.0.0.1:${port}`,
          random,
          main: `${root}gateway/src/main.ts`,
          environment: {
            ...shared,
            GATEWAY_PORT: String(port),
            GATEWAY_CONFIG_DIR: configFolder,
            ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
            ...Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, direct(name)])),
          },
        }),
      ),
    );

    const admin = new pg.Pool({
      connectionString: Object.assign(new URL(adminUrl), { pathname: '/shop' }).href,
      max: 4,
      options: '-c search_path=orders',
    });
    admin.on('error', () => {});
    stops.push(() => admin.end());
    await prepareChecks(admin);
    const untilReady = (within: number): Promise<void> =>
      eventually(async () => {
        for (const { name, url } of all()) {
          const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
          if (!answer.ok) throw new Error(`${name} is not ready: ${await answer.text()}`);
        }
      }, within).catch((error: unknown) => {
        const outputs = all().map((each) => `--- ${each.name}\n${each.output().slice(-1_500)}`);
        throw new Error(`not all is ready after ${within / 1000} s: ${String(error)}\n${outputs.join('\n')}`);
      });
    await untilReady(120_000);
    const buyer: Deployment['buyer'] = async (name, ...scopes) => {
      const accountId = await register(journal, gatewayUrl, name);
      await verify(urls.accounts, name);
      if (scopes.length > 0) await grant(urls.accounts, name, scopes);
      return signToken(admin, identity, accountId, scopes);
    };
    const staff = await buyer(`staff-${seed}`, 'orders:fulfil', 'settings:write', 'webhooks:write');
    await configurePrices(gatewayUrl, staff);
    return {
      gatewayUrl,
      admin,
      urls,
      staff,
      payer: await buyer(`payer-${seed}`, 'payments:write'),
      buyers: await Promise.all(Array.from({ length: buyers }, (_, index) => buyer(`buyer-${seed}-${index}`))),
      buyer,
      services: () => serviceNames.flatMap((name) => started.get(name) ?? []),
      catalogueClient: (use) => withClient({ url: urls.catalogue }, use),
      mailFolder,
      mails,
      brokerUrl,
      processes: (name) => started.get(name) ?? [],
      all,
      untilReady,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
