// The whole shop as real processes, two of each service, with proxies between them that can inject faults.

import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StaffScope } from '@shop/accounts/operator';
import { migrate, provisionDatabase, type SchemaName, schemas } from '@shop/shared/database';
import { type EmbeddedPostgres, freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { type ServiceName, serviceNames } from '@shop/shared/runtime';
import { eventually, highHoldLimits } from '@shop/shared/testing';
import pg from 'pg';
import { type BrokerServer, startBrokerServer } from '../../shared/src/testing/servers/broker-server.ts';
import { grant, register, signToken, verify } from './accounts.ts';
import { archiveWatch } from './archive.ts';
import { handlerWatch } from './effects.ts';
import type { Buyer, Journal } from './journal.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import { createRandom } from './random.ts';
import { type Supervised, supervise } from './supervised.ts';

export interface System {
  readonly gatewayUrl: string;
  /** A pool that reads all schemas, without a proxy. Tables without a schema are those of orders. */
  readonly admin: pg.Pool;
  readonly urls: Readonly<Record<SchemaName, string>>;
  readonly mailFolder: string;
  readonly broker: BrokerServer;
  /** The proxy between the services and the broker. */
  readonly brokerProxy: TcpProxy;
  /** The proxy between the services and PostgreSQL. */
  readonly databaseProxy: TcpProxy;
  /** The buyers of every round. */
  readonly buyers: readonly Buyer[];
  /** Returns all processes of a service. */
  processes(name: ServiceName | 'gateway'): readonly Supervised[];
  /** Returns all processes except those of the gateway. */
  services(): readonly Supervised[];
  all(): readonly Supervised[];
  /** Archives finished orders all the time. It answers no requests, and is not one of the others. */
  readonly archiver: Supervised;
  restartPostgres(downFor: number): Promise<void>;
  /** How many deadlocks PostgreSQL has found so far. */
  deadlocks(): Promise<number>;
  /** Runs `use` with a connection of the catalogue's own role. */
  catalogueClient<T>(use: (client: pg.Client) => Promise<T>): Promise<T>;
  /** The machine that reports payments. */
  readonly payer: Buyer;
  /** A new customer, with the scope if one is given. */
  buyer(name: string, scope?: StaffScope): Promise<Buyer>;
  /** Resolves when every process is ready, and the gateway reports all services as ready. */
  untilReady(within: number): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  readonly seed: number;
  readonly buyers: number;
  /** The journal in which registrations are recorded. */
  readonly journal: Journal;
}

const replicas = 2;
const root = fileURLToPath(new URL('../../', import.meta.url));
const password = 'only-for-tests';
const roles = Object.fromEntries(schemas.map((name) => [name, password])) as Record<SchemaName, string>;

const identity = {
  issuer: 'https://shop.test',
  audience: 'shop',
  keySecret: Buffer.alloc(32, 7).toString('base64url'),
};

/**
 * Starts everything and waits until it is ready. The function is longer than others, because each step needs the
 * results of those before it and registers how it is undone.
 */
export async function startSystem({ seed, buyers, journal }: SystemOptions): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-outages-'));
  await chmod(folder, 0o711); // PostgreSQL runs as a user of its own
  const mailFolder = join(folder, 'mail');
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    let [postgres, broker] = await Promise.all([
      startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: true }),
      startBrokerServer({ own: true }),
    ]);
    stops.push(() => broker.stop());
    stops.push(() => postgres.stop());
    const urls = await provisionDatabase({ adminUrl: postgres.url, database: 'shop', roles });
    await Promise.all(
      serviceNames.map((name) => migrate({ url: urls[name], folder: `${root}services/${name}/migrations` })),
    );

    const brokerUrl = new URL(broker.url);
    const brokerProxy = await startProxy([{ host: brokerUrl.hostname, port: Number(brokerUrl.port) }]);
    const databaseProxy = await startProxy([{ host: '127.0.0.1', port: postgres.port }]);
    stops.push(
      () => brokerProxy.close(),
      () => databaseProxy.close(),
    );
    brokerUrl.host = `127.0.0.1:${brokerProxy.port}`;

    const ports = await freePorts(serviceNames.length * replicas + 1);
    const gatewayPort = ports.pop() ?? 0;
    const portsOf = (name: ServiceName): number[] =>
      ports.slice(serviceNames.indexOf(name) * replicas).slice(0, replicas);
    const direct = (name: ServiceName): string =>
      portsOf(name)
        .map((port) => `http://127.0.0.1:${port}`)
        .join(',');
    // Both processes of a service share one address, as in a cluster.
    const balanced = async (name: ServiceName): Promise<string> => {
      const proxy = await startProxy(portsOf(name).map((port) => ({ host: '127.0.0.1', port })));
      stops.push(() => proxy.close());
      return `http://127.0.0.1:${proxy.port}`;
    };
    const [accounts, orders, catalogue, notifications] = await Promise.all([
      balanced('accounts'),
      balanced('orders'),
      balanced('catalogue'),
      balanced('notifications'),
    ]);
    const shared = {
      HOST: '127.0.0.1',
      EVENTS_URL: brokerUrl.href,
      JWKS_URL: `${accounts}/.well-known/jwks.json`,
      JWT_ISSUER: identity.issuer,
      JWT_AUDIENCE: identity.audience,
      INTERNAL_SECRET: 'only-for-tests-only-for-tests-only-for-tests',
      KEY_ENCRYPTION_SECRET: identity.keySecret,
      CURSOR_KEYS: Buffer.alloc(32, 8).toString('base64url'),
      MAIL_DIR: mailFolder,
      RESERVATION_SECONDS: '3',
      EMAILS_PER_HOUR: '1000000',
      // Orders have to be paid, and none expires while the clocks are changed.
      PAYMENTS: 'required',
      PAYMENT_DUE_MINUTES: '10000',
      ...highHoldLimits,
    };
    const random = createRandom(seed);
    const started = new Map<ServiceName | 'gateway', Supervised[]>();
    const all = (): Supervised[] => [...started.values()].flat();
    stops.push(() => Promise.all(all().map((each) => each.stop())));
    const proxied = (name: ServiceName): string =>
      Object.assign(new URL(urls[name]), { host: `127.0.0.1:${databaseProxy.port}` }).href;
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
              DATABASE_URL: proxied(name),
              PORT: String(port),
              ORDERS_URL: orders,
              CATALOGUE_URL: catalogue,
              NOTIFICATIONS_URL: notifications,
            },
          }),
        ),
      );
    }
    started.set('gateway', [
      supervise({
        name: 'gateway',
        url: `http://127.0.0.1:${gatewayPort}`,
        random,
        main: `${root}gateway/src/main.ts`,
        environment: {
          ...shared,
          GATEWAY_PORT: String(gatewayPort),
          ...Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, direct(name)])),
        },
      }),
    ]);

    const archiver = supervise({
      name: 'archiver',
      url: '',
      random,
      main: `${root}test/outages/archiver.ts`,
      environment: { DATABASE_URL: proxied('orders') },
    });
    stops.push(() => archiver.stop());

    const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
    const adminUrl = Object.assign(new URL(postgres.url), { pathname: '/shop' }).href;
    const admin = new pg.Pool({ connectionString: adminUrl, max: 4, options: '-c search_path=orders' });
    admin.on('error', () => {});
    stops.push(() => admin.end());
    await admin.query(handlerWatch);
    await admin.query(archiveWatch);
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
    const buyer: System['buyer'] = async (name, scope) => {
      const accountId = await register(journal, gatewayUrl, name);
      await verify(urls.accounts, name);
      if (scope !== undefined) await grant(urls.accounts, name, scope);
      return signToken(admin, identity, accountId, scope === undefined ? [] : [scope]);
    };
    return {
      gatewayUrl,
      admin,
      urls,
      payer: await buyer(`payer-${seed}`, 'payments:write'),
      buyers: await Promise.all(Array.from({ length: buyers }, (_, index) => buyer(`buyer-${seed}-${index}`))),
      buyer,
      services: () => all().filter(({ name }) => name !== 'gateway'),
      async deadlocks() {
        const log = await readFile(join(folder, 'postgres', 'postgres.log'), 'utf8');
        return log.split('deadlock detected').length - 1;
      },
      async catalogueClient(use) {
        const client = new pg.Client({ connectionString: urls.catalogue });
        client.on('error', () => {});
        await client.connect();
        try {
          return await use(client);
        } finally {
          await client.end();
        }
      },
      mailFolder,
      broker,
      brokerProxy,
      databaseProxy,
      processes: (name) => started.get(name) ?? [],
      all,
      archiver,
      async restartPostgres(downFor) {
        const { port } = postgres;
        await postgres.stop();
        await new Promise((resolve) => setTimeout(resolve, downFor));
        postgres = await restart(folder, port);
      },
      untilReady,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function restart(folder: string, port: number): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), port, durable: true });
}
