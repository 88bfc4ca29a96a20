// The whole shop with two processes of each kind, and a load balancer in front of each pair.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@shop/shared/embedded';
import { type ServiceName, serviceNames as services } from '@shop/shared/shop';
import { createTestDatabase, eventually, highHoldLimits, type TestDatabase } from '@shop/shared/testing';
import { type Balancer, startBalancer } from './balancer.ts';
import { type Changed, type ShopProcess, startProcess } from './process.ts';

export interface ReplicatedShop {
  /** The address of the load balancer of the gateways. */
  readonly url: string;
  readonly database: TestDatabase;
  readonly mailFolder: string;
  /** The processes, in the order of their replacement. */
  readonly processes: readonly ShopProcess[];
  /**
   * Replaces a process, and waits until all its clients use the new one.
   * @returns the exit code or signal of the old one
   */
  replace(process: ShopProcess, changed?: Changed): ReturnType<ShopProcess['replace']>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The secret with which the shop starts. */
export const internalSecret = 'only-for-tests-only-for-tests-only-for-tests';
const noticedWithin = 30_000;
// Milliseconds, longer than the keep-alive time of idle connections.
const drain = '4500';
/** Milliseconds within which each request gets its response on the machine that pace.ts names. */
export const answeredWithin = 10_000;

export interface ReplicatedShopOptions {
  /** A database with the schemas of the release, which `stop` drops; default a new one. */
  readonly database?: TestDatabase;
  /** The folder of the release, which ends with a slash; default this checkout. */
  readonly tree?: string;
  /** Variables of all processes that differ from the defaults of this file. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Starts everything and waits until it is ready. The function is longer than others, because each step needs the
 * results of those before it.
 */
export async function startReplicatedShop(options: ReplicatedShopOptions = {}): Promise<ReplicatedShop> {
  const { tree = root } = options;
  const [database, folder, ports] = await Promise.all([
    options.database ?? createTestDatabase(services),
    mkdtemp(join(tmpdir(), 'shop-restarts-')),
    freePorts(2 * (services.length + 1)),
  ]);
  const pair = (name: ServiceName | 'gateway'): string[] => {
    const index = [...services, 'gateway'].indexOf(name);
    return ports.slice(2 * index, 2 * index + 2).map((port) => `http://127.0.0.1:${port}`);
  };
  const mailFolder = join(folder, 'mail');
  const processes: ShopProcess[] = [];
  const balancers: Balancer[] = [];
  const balance = async (name: ServiceName | 'gateway'): Promise<string> => {
    const balancer = await startBalancer(pair(name));
    balancers.push(balancer);
    return balancer.url;
  };
  const stop = async (): Promise<void> => {
    for (const process of processes) process.kill();
    await Promise.all(balancers.map((balancer) => balancer.close()));
    await Promise.all([database.drop(), rm(folder, { recursive: true, force: true })]);
  };
  try {
    const [url, accounts, orders, catalogue, notifications, changes] = await Promise.all([
      balance('gateway'),
      balance('accounts'),
      balance('orders'),
      balance('catalogue'),
      balance('notifications'),
      balance('changes'),
    ]);
    const shared = {
      HOST: '127.0.0.1',
      // A line for each request would take a part of the processor time.
      LOG_LEVEL: 'warn',
      DRAIN_MS: drain,
      EVENTS_URL: database.urls.events,
      JWKS_URL: `${accounts}/.well-known/jwks.json`,
      JWT_ISSUER: 'https://shop.test',
      JWT_AUDIENCE: 'shop',
      ACCOUNTS_URL: accounts,
      ORDERS_URL: orders,
      CATALOGUE_URL: catalogue,
      NOTIFICATIONS_URL: notifications,
      CHANGES_URL: changes,
      INTERNAL_SECRET: internalSecret,
      KEY_ENCRYPTION_SECRET: 'only-for-tests-only-for-tests-only-for-tests',
      CURSOR_KEYS: Buffer.alloc(32, 8).toString('base64url'),
      WEBHOOK_KEYS: Buffer.alloc(32, 9).toString('base64url'),
      MAIL_DIR: mailFolder,
      EMAILS_PER_HOUR: '1000000',
      ...highHoldLimits,
      ...options.environment,
    };
    for (const name of services) {
      for (const [index, address] of pair(name).entries()) {
        const { port } = new URL(address);
        const own = { DATABASE_URL: database.urls[name], PORT: port };
        const main = `services/${name}/src/main.ts`;
        const environment = { ...shared, ...own };
        // A service that the release does not have runs from this checkout.
        const home = existsSync(`${tree}${main}`) ? tree : root;
        processes.push(startProcess({ name: `${name} ${index + 1}`, tree: home, main, url: address, environment }));
      }
    }
    const addresses = Object.fromEntries(services.map((name) => [`${name.toUpperCase()}_URL`, pair(name).join()]));
    const gateways = pair('gateway').map((address, index) => {
      // The balancer is the client of the gateways, so X-Forwarded-For distinguishes the customers. `replace` reads what
      // they log about the addresses that they use.
      const own = { GATEWAY_PORT: new URL(address).port, TRUSTED_PROXIES: '1', LOG_LEVEL: 'info', ...addresses };
      // A busy machine loses no request, so the gateways wait longer. The tests compare the times with `answeredWithin`.
      const environment = { ...shared, ...own, REQUEST_TIMEOUT_MS: '25000' };
      return startProcess({
        name: `gateway ${index + 1}`,
        tree,
        main: 'gateway/src/main.ts',
        url: address,
        environment,
      });
    });
    processes.push(...gateways);
    const balanced = (process: ShopProcess): void => {
      const concerned = balancers.filter((balancer) => balancer.targets.includes(process.url));
      if (!concerned.every((balancer) => balancer.sendsTo(process.url)))
        throw new Error(`${process.name} gets nothing`);
    };
    await Promise.all(processes.map((process) => process.untilReady()));
    for (const process of processes) await eventually(() => balanced(process), noticedWithin);

    return {
      url,
      database,
      mailFolder,
      processes,
      async replace(process, changed) {
        // The gateways do not forward requests to every service.
        const clients = gateways
          .filter((gateway) => startsToUse(gateway.output(), process.url))
          .map((gateway) => ({ gateway, from: gateway.output().length }));
        const ending = await process.replace(changed);
        await eventually(() => {
          balanced(process);
          for (const { gateway, from } of clients) {
            if (!startsToUse(gateway.output().slice(from), process.url))
              throw new Error(`${gateway.name} does not send to ${process.name}: ${gateway.output().slice(-2_000)}`);
          }
        }, noticedWithin);
        return ending;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether the output of a gateway reports that it starts to use an address. */
function startsToUse(output: string, url: string): boolean {
  return output.split('\n').some((line) => line.includes(`"${url}"`) && line.includes('address in rotation'));
}
