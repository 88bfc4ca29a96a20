// The functions that follow from the contract: their requests, their results, and the one form of lists.
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { endpoints } from '../src/contract.ts';
import { createShop, type Shop } from '../src/index.ts';
import { type FaultyShop, type Reaction, startFaultyShop } from './faulty-shop.ts';

const id = '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01';
let server: FaultyShop;
afterEach(() => server.close());

async function clientOf(reaction: Reaction = { status: 200, body: { id } }): Promise<Shop> {
  server = await startFaultyShop(() => reaction);
  return createShop({ baseUrl: server.url });
}

const lines = (): string[] => server.seen.map(({ line }) => decodeURIComponent(line));
const bodies = (): unknown[] => server.seen.map(({ body }) => (body === '' ? undefined : JSON.parse(body)));

describe('the client', () => {
  it('the client has a function for every operation of the contract except the feed, and list and search of products are one', async () => {
    const shop = (await clientOf()) as unknown as Record<string, Record<string, unknown>>;
    const without = Object.entries(endpoints).filter(([, { name = '' }]) => {
      const [group = '', method] = name.split('.');
      return typeof (method === undefined ? shop[group] : shop[group]?.[method]) !== 'function';
    });
    // `shop.changes` and `shop.follow` read the feed.
    expect(without.map(([target]) => target)).toEqual(['GET /v1/changes', 'GET /v1/changes/live', 'GET /v1/products']);
  });

  it('the client sends the id in the path, the body, a key and further headers', async () => {
    const shop = await clientOf();
    const money = { reference: 'ch_1', amount: 5, currency: 'EUR' };
    expect(await shop.orders.get(id)).toEqual({ id });
    await shop.orders.pay(id, money, { idempotencyKey: 'mine' });
    await shop.orders.refund(id, money);
    await shop.orders.ship(id);
    await shop.orders.ship(id, { carrier: 'Post' }, { headers: { 'If-Match': '"7"' } });
    await shop.products.get('a/b');
    await shop.register({ email: 'kim@example.com', name: 'Kim Park', password: 'a long and quiet river' });
    await shop.verifyEmail({ token: 'from-the-e-mail' });
    await shop.me();
    expect(server.seen.map(({ line }) => line)).toEqual([
      `GET /v1/orders/${id}`,
      `POST /v1/orders/${id}/payments`,
      `POST /v1/orders/${id}/refunds`,
      `POST /v1/orders/${id}/ship`,
      `POST /v1/orders/${id}/ship`,
      'GET /v1/products/a%2Fb',
      'POST /v1/accounts',
      'POST /v1/email-verifications',
      'GET /v1/accounts/me',
    ]);
    expect(bodies().slice(0, 5)).toEqual([undefined, money, money, {}, { carrier: 'Post' }]);
    expect(server.seen[1]?.headers['idempotency-key']).toBe('mine');
    expect(server.seen[2]?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
    expect(server.seen[4]?.headers['if-match']).toBe('"7"');
  });

  it('the client has every function that its documentation names', async () => {
    const shop = (await clientOf()) as unknown as Record<string, Record<string, unknown>>;
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    const table = readme.slice(readme.indexOf('| For | Functions |')).split('\n\n', 1)[0] ?? '';
    const names = [...table.matchAll(/`([a-zA-Z.]+)/g)].map(([, name = '']) => name);
    const missing = names.filter((name) => {
      const [group = '', method] = name.split('.');
      return typeof (method === undefined ? shop[group] : shop[group]?.[method]) !== 'function';
    });
    expect([names.length > 30, missing]).toEqual([true, []]);
  });

  it.each([202, 204])(
    'the client returns nothing for a response with status %i and without content',
    async (status) => {
      const shop = await clientOf({ status, body: '' });
      expect(await shop.requestPasswordReset({ email: 'kim@example.com' })).toBeUndefined();
      expect(await shop.products.archive(id)).toBeUndefined();
    },
  );

  it.each([
    ['the fetch of the runtime', undefined],
    ['a fetch with one parameter', (request: Request) => fetch(request)],
  ])(
    'the client with %s stops an aborted call, also after the garbage collector has run',
    async (_, send) => {
      server = await startFaultyShop(() => 'silent');
      const shop = createShop({ baseUrl: server.url, ...(send && { fetch: send }) });
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const collecting = setInterval(collect, 20);
      const stopped = expect(shop.orders.get(id, { signal: AbortSignal.timeout(300) })).rejects.toMatchObject({
        name: 'TimeoutError',
      });
      await stopped.finally(() => clearInterval(collecting));
    },
    20_000,
  );

  it('the client gives a fetch of the application the signal and the referrer of a call', async () => {
    server = await startFaultyShop(() => ({ status: 200, body: { id } }));
    const seen: (RequestInit | undefined)[] = [];
    const shop = createShop({
      baseUrl: server.url,
      fetch: (request, init) => {
        seen.push(init);
        return fetch(request, init);
      },
    });
    const { signal } = new AbortController();
    await shop.call.GET('/v1/products/{productId}', { params: { path: { productId: id } }, signal, referrer: '' });
    await shop.products.get(id);
    expect(seen).toEqual([{ signal, referrer: '', referrerPolicy: '' }, undefined]);
  });
});

describe('a list', () => {
  const page: Reaction = {
    status: 200,
    body: { items: [{ id }], facets: { brand: [] }, pagination: { limit: 1, nextCursor: 'c1', hasMore: true } },
  };

  it('a list has its first page with the next cursor, and the page at a cursor', async () => {
    const shop = await clientOf(page);
    const first = await shop.orders.page({ status: 'pending' }, { limit: 1 });
    expect([first.items[0]?.id, first.pagination.nextCursor]).toEqual([id, 'c1']);
    await shop.orders.page({}, { cursor: 'c1' });
    await shop.brands.page({}, { limit: 1 });
    expect(lines()).toEqual([
      'GET /v1/orders?status=eq:pending&limit=1',
      'GET /v1/orders?cursor=c1',
      'GET /v1/brands?limit=1',
    ]);
  });

  it('a list of products is searched by words and by declared attributes, and counted by facets', async () => {
    const shop = await clientOf(page);
    const criteria = { q: 'enamel mug', attributes: { colour: ['red', 'blue'], litres: 0.4 }, inStock: true };
    const found = await shop.products.page(criteria, { facets: ['brand', 'price'], limit: 1 });
    expect(found.facets?.brand).toEqual([]);
    await shop.products(criteria).next();
    const filters = {
      'attributes.colour': { in: ['red', 'blue'] },
      'attributes.litres': { eq: 0.4 },
      inStock: { eq: true },
    };
    expect(bodies()).toEqual([
      { q: 'enamel mug', filters, facets: ['brand', 'price'], pagination: { limit: 1 } },
      { q: 'enamel mug', filters, pagination: { limit: 100 } },
    ]);
  });

  it('a list on a path with an id takes the id first, and sends parameters that are not filters unchanged', async () => {
    const shop = await clientOf(page);
    await shop.accounts.listAudit(id, { action: ['login', 'login-failed'] }, { limit: 5 }).next();
    await shop.accounts.find({ q: 'kim: "park"' }).next();
    await shop.orders.page({ accountId: 'all', id: [id] });
    expect(lines()).toEqual([
      `GET /v1/accounts/${id}/audit?action=in:login,login-failed&limit=5`,
      'GET /v1/accounts?q=kim: "park"&limit=100',
      `GET /v1/orders?accountId=all&id=in:${id}`,
    ]);
  });

  it('a list has the same filters, sort and fields as `pages` and `call`', async () => {
    const shop = await clientOf(page);
    const sort = [{ field: 'totalCost', direction: 'desc' }] as const;
    const fields = ['id', 'status'] as const;
    const filters = { totalCost: { gte: 10, lt: 20 }, status: { in: ['pending', 'shipped'] } } as const;
    await shop.orders.page(filters, { sort, fields });
    await shop.pages('/v1/orders', { params: { query: { ...filters, sort, fields } } }).next();
    await shop.call.GET('/v1/orders', { params: { query: { ...filters, sort, fields } } });
    expect(new Set(lines())).toEqual(
      new Set([
        'GET /v1/orders?totalCost=gte:10&totalCost=lt:20&status=in:pending,shipped&sort=totalCost:desc&fields=id,status',
      ]),
    );
    await shop.call.GET('/v1/products', { params: { query: { attributes: { colour: { in: ['red', 'a,b'] } } } } });
    expect(lines().at(-1)).toBe('GET /v1/products?attributes.colour=in:red,"a,b"');
  });

  it('a list rejects unknown criteria, fields and sorts by its types', async () => {
    const shop = await clientOf(page);
    // @ts-expect-error an order has no such field
    await shop.orders.page({}, { fields: ['colour'] });
    // @ts-expect-error orders are not sorted by status
    await shop.orders.page({}, { sort: [{ field: 'status', direction: 'asc' }] });
    // @ts-expect-error a status is no number
    await shop.orders.page({ status: 7 });
    const { items } = await shop.orders.page({}, { fields: ['id'] });
    // @ts-expect-error the status was not asked for
    expect(items[0]?.status).toBeUndefined();
  });
});
