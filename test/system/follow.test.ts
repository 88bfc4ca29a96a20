// Clients that follow the shop have what its lists have, while several writers change it and the feed is killed.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createShop, type Followed, type Shop } from '@shop/client';
import { eventually } from '@shop/shared/testing';
import { launchShop, runShop, type StartedShop } from '../../cli/test/started-shop.ts';
import { createRandom, type Random } from '../faults/outages/random.ts';
import { unlimitedConfig } from '../gateway-config.ts';

const steps = Number(process.env.FOLLOW_STEPS ?? 150);
const password = 'a long and quiet river';
let folder: string;
let shop: StartedShop;
let staff: Shop;
const followers: { end(): Promise<void> }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-follow-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const GATEWAY_CONFIG_DIR = await unlimitedConfig(join(folder, 'config'));
  shop = await launchShop({ dataDir: join(folder, 'data'), environment: { GATEWAY_CONFIG_DIR } });
  await shop.ready;
  staff = await register('staff@shop.example', ['catalogue:write', 'orders:read-all', 'orders:fulfil']);
});
afterAll(async () => {
  await Promise.all(followers.map((follower) => follower.end()));
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

async function register(email: string, scopes: readonly string[] = []): Promise<Shop> {
  const client = createShop({ baseUrl: shop.gateway });
  await client.register({ email, name: 'Kim Park', password });
  await runShop(shop.dataDir, 'accounts', 'verify-email', email);
  if (scopes.length > 0) await runShop(shop.dataDir, 'staff', 'grant', email, ...scopes);
  await client.logIn({ email, password });
  return client;
}

/** Keeps what a client follows, as its application would. */
function follow<Kind extends keyof Followed>(client: Shop, kind: Kind, accountId?: string) {
  const copy = new Map<string, Followed[Kind]>();
  const stop = new AbortController();
  const running = (async () => {
    const options = { signal: stop.signal, ...(accountId !== undefined && { accountId }) };
    for await (const { id, value } of client.follow(kind, options)) {
      if (value === undefined) copy.delete(id);
      else copy.set(id, value);
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  followers.push({
    async end() {
      stop.abort();
      await running;
    },
  });
  return copy;
}

async function changeProducts(random: Random): Promise<void> {
  const ids: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    const id = ids.length === 0 ? undefined : random.pick(ids);
    const choice = random.integer(0, 9);
    if (id === undefined || choice < 3) {
      const created = await staff.products.create({
        ...{ name: `Cup ${step}`, brand: 'Acme', category: 'Kitchen', price: 9.5, stock: random.integer(0, 2) },
        status: random.pick(['available', 'pending', 'backorder'] as const),
      });
      ids.push(created.id);
    } else if (choice < 7) {
      const status = random.pick(['available', 'pending', 'active'] as const);
      await staff.products.update(id, { price: 1 + random.integer(0, 49), status });
    } else if (choice < 9) await staff.products.update(id, { stock: random.integer(0, 2) });
    else {
      await staff.products.archive(id);
      ids.splice(ids.indexOf(id), 1);
    }
  }
}

async function changeOrders(customer: Shop, random: Random): Promise<void> {
  const cup = await staff.products.create({
    ...{ name: 'Glass', brand: 'Acme', category: 'Kitchen', price: 3, stock: 100_000, status: 'available' as const },
  });
  const ids: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    const id = ids.length === 0 ? undefined : random.pick(ids);
    if (id === undefined || random.integer(0, 1) === 0) {
      ids.push(
        (await customer.orders.place({ items: [{ productId: cup.id, quantity: 1 + random.integer(0, 2) }] })).id,
      );
    } else {
      ids.splice(ids.indexOf(id), 1);
      const course = random.integer(0, 2);
      if (course === 0) await customer.orders.cancel(id);
      else {
        await staff.orders.process(id);
        if (course === 1) await staff.orders.ship(id, {});
      }
    }
  }
}

/** Ends the feed at once. The launcher starts it again. */
async function killFeed(): Promise<void> {
  await promisify(execFile)('pkill', ['-KILL', '-P', String(shop.child.pid), '-f', 'services/changes/src/main.ts']);
}

it('copies of products and orders equal the lists after changes by several writers and kills of the feed', async () => {
  const customer = await register('kim@example.com');
  const anonymous = createShop({ baseUrl: shop.gateway });
  const products = follow(anonymous, 'products');
  const own = follow(customer, 'orders');
  const all = follow(staff, 'orders', 'all');
  let isOver = false;
  const kills = (async () => {
    for (let count = 0; count < 3 && !isOver; count += 1) {
      await sleep(4_000);
      await killFeed();
    }
  })();
  await Promise.all([
    ...[1, 2].map((seed) => changeProducts(createRandom(seed))),
    ...[3, 4].map((seed) => changeOrders(customer, createRandom(seed))),
  ]);
  isOver = true;
  await kills;
  const byId = <Item extends { readonly id: string }>(items: Iterable<Item>): Map<string, Item> =>
    new Map([...items].map((item) => [item.id, item]));
  await eventually(async () => {
    expect(products).toEqual(byId(await Array.fromAsync(anonymous.products({}))));
    expect(own).toEqual(byId(await Array.fromAsync(customer.orders())));
    expect(all).toEqual(byId(await Array.fromAsync(staff.orders({ accountId: 'all' }))));
  }, 60_000);
});

it('a stream of live updates ends with an event when its session ends', async () => {
  const email = 'ada@shop.example';
  await register(email);
  const send = (method: string, path: string, token?: string, body?: object) =>
    fetch(`${shop.gateway}${path}`, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const { access_token: token } = (await (await send('POST', '/v1/tokens', undefined, { email, password })).json()) as {
    readonly access_token: string;
  };
  const stream = await send('GET', '/v1/changes/live', token);
  const { items } = (await (await send('GET', '/v1/sessions', token)).json()) as { items: readonly { id: string }[] };
  for (const { id } of items) await send('DELETE', `/v1/sessions/${id}`, token);
  expect(await stream.text()).toMatch(/event: end\ndata: {"code":"unauthenticated"[^\n]+}\n\n$/);
});
