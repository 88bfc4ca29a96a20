// The processes of the shop over servers that can fail over, with a queue of events that no failover concerns.
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, type ServiceName, serviceNames } from '@shop/shared/runtime';
import {
  connectTestTransport,
  eventually,
  startServices,
  type TestService,
  type TestServices,
} from '@shop/shared/testing';
import { runShop } from '../../cli/test/started-shop.ts';
import { startSwitchableProxy } from '../differential/switchable-proxy.ts';
import { type EventQueueKind, eventQueues } from './event-queue.ts';
import { type FailoverServer, startFailoverServer } from './server.ts';

export interface Customer {
  readonly accountId: string;
  readonly email: string;
  readonly token: string;
}

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  readonly remedy?: string;
  readonly orderId?: string;
  readonly accountId?: string;
}

export interface FailoverShop {
  service(name: ServiceName): TestService;
  readonly mailFolder: string;
  /** The server of the service's database. */
  server(name: ServiceName): FailoverServer;
  /** A new account whose address is not verified. */
  register(name: string): Promise<Customer>;
  verify(customer: Customer): Promise<void>;
  /** A new account whose address is verified. */
  customer(name: string): Promise<Customer>;
  product(stock: number): Promise<string>;
  /** Places an order and returns its id. */
  order(customer: Customer, productId: string, quantity?: number): Promise<string>;
  /** An action of the customer, or of staff. */
  act(orderId: string, action: string, customer?: Customer, body?: object): Promise<void>;
  /** Reports money that was received or refunded. The default reference is the id of the order. */
  report(orderId: string, path: 'payments' | 'refunds', amount: number, reference?: string): Promise<void>;
  /** Resolves when every published event is handled or is a dead letter, and every event is published. */
  untilHandled(): Promise<void>;
  /** Sends an event to the consumers of its type, whatever it contains. */
  send(type: string, event: object): Promise<void>;
  /** Resolves when all processes are ready. */
  untilReady(): Promise<void>;
  /** Runs a command over the services' own connections. */
  run(...parameters: string[]): ReturnType<typeof runShop>;
  /** The findings of the doctor. */
  doctor(...options: string[]): Promise<Finding[]>;
  stop(): Promise<void>;
}

/** @param apart the services that have a server of their own, together; the others have another one */
export async function startFailoverShop(
  apart: readonly ServiceName[],
  queueKind: EventQueueKind = 'pg-boss',
): Promise<FailoverShop> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const queue = await eventQueues[queueKind]();
    stops.push(() => queue.stop());
    const gates = new Map<ServiceName, Awaited<ReturnType<typeof startSwitchableProxy>>>();
    for (const name of serviceNames) {
      const gate = await startSwitchableProxy(9);
      gates.set(name, gate);
      stops.push(() => gate.close());
    }
    const addresses = Object.fromEntries(
      [...gates].map(([name, { port }]) => [`${name.toUpperCase()}_URL`, `http://127.0.0.1:${port}`]),
    );
    const groups: { names: readonly ServiceName[]; services: TestServices; server: FailoverServer }[] = [];
    const start = async (names: readonly ServiceName[]): Promise<void> => {
      let database = '';
      const server = await startFailoverServer(() => database);
      stops.push(() => server.stop());
      const [first] = groups;
      const { env } = process;
      env.SHOP_TEST_ADMIN_URL = server.adminUrl;
      const services = await startServices(names, {
        eventsUrl: queue.url,
        environment: {
          LOG_LEVEL: 'debug',
          ...addresses,
          ...(first && { JWKS_URL: first.services.issuer.jwksUrl, MAIL_DIR: first.services.mailFolder }),
        },
      });
      database = new URL(services.database.adminUrl).pathname.slice(1);
      stops.push(() => services.stop());
      for (const name of names) gates.get(name)?.switchTo(Number(new URL(services.service(name).url).port));
      groups.push({ names, services, server });
    };
    await start(serviceNames.filter((name) => !apart.includes(name)));
    if (apart.length > 0) await start(apart);
    const groupOf = (name: ServiceName) => {
      const group = groups.find(({ names }) => names.includes(name));
      if (group === undefined) throw new Error(`${name} was not started`);
      return group;
    };
    const service = (name: ServiceName): TestService => groupOf(name).services.service(name);
    const { issuer, mailFolder } = groupOf('orders').services;
    const staff = await issuer.sign({
      scopes: ['catalogue:write', 'orders:fulfil', 'orders:read-all', 'payments:write'],
    });
    const dataDir = join(tmpdir(), `shop-failover-${newId()}`);
    stops.push(() => rm(dataDir, { recursive: true, force: true }));
    const run: FailoverShop['run'] = (...parameters) =>
      runShop(
        dataDir,
        {
          ...Object.fromEntries(
            serviceNames.map((name) => [
              `${name.toUpperCase()}_DATABASE_URL`,
              groupOf(name).services.database.urls[name],
            ]),
          ),
          EVENTS_URL: queue.operatorUrl,
        },
        ...parameters,
      );
    const register: FailoverShop['register'] = async (name) => {
      const email = `${name}@shop.example`;
      const body = { name, email, password: 'under the old oak' };
      const answer = await service('accounts').client.post('/v1/accounts', { body });
      if (answer.status !== 201) throw new Error(answer.text);
      const accountId = answer.body.id;
      return { accountId, email, token: await issuer.sign({ accountId }) };
    };
    const verify: FailoverShop['verify'] = async ({ email }) => {
      const { code, complaints } = await run('accounts', 'verify-email', email);
      if (code !== 0) throw new Error(complaints);
    };
    return {
      service,
      mailFolder,
      server: (name) => groupOf(name).server,
      run,
      register,
      verify,
      async customer(name) {
        const customer = await register(name);
        await verify(customer);
        return customer;
      },
      async product(stock) {
        const body = { name: 'Cup', brand: 'Acme', category: 'kitchen', price: 10, status: 'active', stock };
        const answer = await service('catalogue').client.post('/v1/products', { token: staff, body });
        if (answer.status !== 201) throw new Error(answer.text);
        return answer.body.id;
      },
      async order({ token }, productId, quantity = 1) {
        const body = { items: [{ productId, quantity }] };
        const answer = await service('orders').client.post('/v1/orders', { token, body });
        if (answer.status !== 201) throw new Error(answer.text);
        return answer.body.id;
      },
      async act(orderId, action, customer, body) {
        const token = customer?.token ?? staff;
        const answer = await service('orders').client.post(`/v1/orders/${orderId}/${action}`, { token, body });
        if (answer.status !== 200) throw new Error(answer.text);
      },
      async report(orderId, path, amount, reference = orderId) {
        const body = { reference, amount, currency: 'EUR' };
        const answer = await service('orders').client.post(`/v1/orders/${orderId}/${path}`, { token: staff, body });
        if (answer.status !== 200) throw new Error(answer.text);
      },
      untilHandled: () =>
        eventually(async () => {
          for (const name of serviceNames) {
            const { rowCount } = await service(name).database.query('SELECT FROM outbox WHERE published_at IS NULL');
            if (rowCount !== 0) throw new Error(`${name} has events to publish`);
          }
          const waiting = await queue.waiting();
          if (waiting.length > 0) throw new Error(`events wait in the queues ${waiting.join()}`);
        }, 60_000),
      async send(type, event) {
        const transport = await connectTestTransport(queue.url);
        await transport.publish([{ id: newId(), type, content: JSON.stringify(event) }]);
        await transport.close();
      },
      untilReady: () =>
        eventually(async () => {
          for (const name of serviceNames) {
            const answer = await fetch(`${service(name).url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
            if (!answer.ok) throw new Error(`${name} is not ready: ${await answer.text()}`);
          }
        }, 30_000),
      async doctor(...options) {
        const { output, complaints } = await run('doctor', '--after-failover', '--json', ...options);
        if (output === '') throw new Error(complaints);
        return (JSON.parse(output) as { findings: Finding[] }).findings;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
