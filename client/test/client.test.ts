// The client on failures: the requests that it repeats, and its errors for unusual responses.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createShop, isShopError, ShopError, type ShopOptions } from '../src/index.ts';
import { type FaultyShop, type Reaction, refused, startFaultyShop, tokens } from './faulty-shop.ts';

const id = '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01';
const order = { body: { items: [{ productId: id, quantity: 1 }] } };
const done: Reaction = { status: 201, body: { id } };
let server: FaultyShop;
afterEach(() => server.close());

/**
 * A client of a server with given reactions: to the first request, the second one and so on. The last reaction applies
 * to all further requests.
 */
async function clientOf(reactions: readonly Reaction[], options: Partial<ShopOptions> = {}) {
  server = await startFaultyShop((_, count) => reactions[Math.min(count, reactions.length) - 1] ?? done);
  return createShop({ baseUrl: server.url, ...options });
}

const keys = (): unknown[] => server.seen.map(({ headers }) => headers['idempotency-key']);

describe('a POST with an idempotency key', () => {
  it.each<[string, Reaction]>([
    ['a broken connection', 'break'],
    ['a connection that breaks in the middle of a body', 'cut'],
    ['503', refused(503, 'service-unavailable', { 'Retry-After': '0' })],
    ['504', refused(504, 'gateway-timeout')],
    ['429', refused(429, 'too-many-requests', { 'Retry-After': '0' })],
    ['409 request-in-progress', refused(409, 'request-in-progress', { 'Retry-After': '0' })],
  ])('a POST with an idempotency key is sent again with the same key and body after %s', async (_name, failure) => {
    const shop = await clientOf([failure, failure, done]);
    const { response } = await shop.call.POST('/v1/orders', order);
    expect(response.status).toBe(201);
    expect(server.seen).toHaveLength(3);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(server.seen.map(({ body }) => JSON.parse(body))).toEqual([order.body, order.body, order.body]);
  });

  it('a POST with an idempotency key has another key at the next call, and the caller’s own when there is one', async () => {
    const shop = await clientOf([done]);
    await shop.call.POST('/v1/orders', order);
    await shop.call.POST('/v1/orders', order);
    await shop.call.POST('/v1/orders', { ...order, params: { header: { 'Idempotency-Key': 'mine' } } });
    expect(new Set(keys()).size).toBe(3);
    expect(keys()[2]).toBe('mine');
  });

  it('a POST with an idempotency key is not sent again after any other 409', async () => {
    const shop = await clientOf([refused(409, 'insufficient-stock')]);
    const { error } = await shop.call.POST('/v1/orders', order);
    expect(error).toMatchObject({ code: 'insufficient-stock' });
    expect(server.seen).toHaveLength(1);
  });

  it('a POST with an idempotency key fails after the maximum number of attempts', async () => {
    const shop = await clientOf([refused(503, 'service-unavailable', { 'Retry-After': '0' })], { attempts: 3 });
    expect((await shop.call.POST('/v1/orders', order)).response.status).toBe(503);
    expect(server.seen).toHaveLength(3);
  });

  it('a POST with an idempotency key waits until the date in Retry-After that a proxy sends', async () => {
    const date = new Date(Date.now() + 1_000).toUTCString();
    const shop = await clientOf([refused(503, 'service-unavailable', { 'Retry-After': date }), done]);
    expect((await shop.call.POST('/v1/orders', order)).response.status).toBe(201);
  });

  it.each(['0', new Date(0).toUTCString()])(
    'a POST with an idempotency key waits longer before each attempt after Retry-After: %s',
    async (value) => {
      const failure = refused(503, 'service-unavailable', { 'Retry-After': value });
      const shop = await clientOf([failure, failure, done]);
      const began = performance.now();
      await shop.call.POST('/v1/orders', order);
      expect(performance.now() - began).toBeGreaterThan(290);
    },
  );

  it('a POST with an idempotency key waits when the requested wait is longer than a timer can be', async () => {
    const shop = await clientOf([refused(503, 'service-unavailable', { 'Retry-After': '9999999' }), done], {
      longestWait: Number.POSITIVE_INFINITY,
    });
    const signal = AbortSignal.timeout(300);
    await expect(shop.call.POST('/v1/orders', { ...order, signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(server.seen).toHaveLength(1);
  });

  it('a POST with an idempotency key fails when the requested wait is too long', async () => {
    const shop = await clientOf([refused(503, 'service-unavailable', { 'Retry-After': '31' })]);
    expect((await shop.call.POST('/v1/orders', order)).response.status).toBe(503);
    expect(server.seen).toHaveLength(1);
  });

  it('a POST with an idempotency key is retried after a lost connection, also when waiting for the shop is switched off', async () => {
    const shop = await clientOf(['break', done], { longestWait: 0 });
    const sent = await shop.call.POST('/v1/orders', { ...order, params: { header: { 'Idempotency-Key': 'k' } } });
    expect(sent.response.status).toBe(201);
    expect(server.seen).toHaveLength(2);
  });

  it('a POST with an idempotency key fails as soon as the caller aborts it, while it waits', async () => {
    const shop = await clientOf([refused(503, 'service-unavailable', { 'Retry-After': '20' })]);
    const signal = AbortSignal.timeout(200);
    await expect(shop.call.POST('/v1/orders', { ...order, signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(server.seen).toHaveLength(1);
  });
});

describe('an import of products', () => {
  const state = { id, lines: 2, linesRead: 0, created: 0, changed: 0, unchanged: 0, refused: 0, refusedLines: [] };
  const lines = [
    { externalKey: 'CUP', name: 'Cup', brand: 'Acme', category: 'kitchen', price: 4.5 },
    { externalKey: 'LID', name: 'Lid\n', brand: 'Acme', category: 'kitchen', price: 1 },
  ];

  it('an import of products is sent as JSON lines with one key, and followed until it has ended', async () => {
    const ended = { ...state, status: 'completed', linesRead: 2, created: 2, endedAt: '2026-11-20T08:00:02.000Z' };
    const shop = await clientOf([
      refused(503, 'service-unavailable', { 'Retry-After': '0' }),
      { status: 202, body: { ...state, status: 'waiting' } },
      { status: 200, body: { ...state, status: 'running', linesRead: 1 } },
      { status: 200, body: ended },
    ]);
    const states: string[] = [];
    expect(await shop.importProducts(lines, { onProgress: ({ status }) => states.push(status) })).toEqual(ended);
    expect(states).toEqual(['waiting', 'running', 'completed']);
    const post = 'POST /v1/products/imports';
    const get = `GET /v1/products-imports/${id}`;
    expect(server.seen.map(({ line }) => line)).toEqual([post, post, get, get]);
    expect(new Set(keys().slice(0, 2)).size).toBe(1);
    expect(server.seen[1]?.headers['content-type']).toBe('application/x-ndjson');
    expect(
      server.seen[1]?.body
        .split('\n')
        .slice(0, 2)
        .map((line) => JSON.parse(line)),
    ).toEqual(lines);
  });

  it('an import of products has the caller’s own key, and outlasts an outage', async () => {
    const ended = { ...state, status: 'completed', endedAt: '2026-11-20T08:00:02.000Z' };
    const outage: Reaction[] = ['break', refused(503, 'service-unavailable'), refused(429, 'too-many-requests'), 'cut'];
    const shop = await clientOf(
      [{ status: 202, body: { ...state, status: 'waiting' } }, ...outage, { status: 200, body: ended }],
      { attempts: 1 },
    );
    expect(await shop.importProducts(lines, { idempotencyKey: 'mine' })).toEqual(ended);
    expect(keys()[0]).toBe('mine');
  });

  it('waiting for an import of products continues while no token can be renewed', async () => {
    const ended = { ...state, status: 'completed', endedAt: '2026-11-20T08:00:02.000Z' };
    let states = 0;
    server = await startFaultyShop(({ line }) => {
      if (line === 'POST /v1/tokens') return refused(503, 'service-unavailable', { 'Retry-After': '1' });
      if (line.startsWith('POST')) return { status: 202, body: { ...state, status: 'waiting' } };
      states += 1;
      return states < 3 ? refused(401, 'unauthenticated') : { status: 200, body: ended };
    });
    const shop = createShop({ baseUrl: server.url, attempts: 1, tokens: tokens('old') });
    expect(await shop.importProducts(lines)).toEqual(ended);
  });

  it('waiting for an import of products stops when the caller aborts, who has its id by then', async () => {
    const waiting = { ...state, status: 'waiting' };
    const shop = await clientOf([
      { status: 202, body: waiting },
      { status: 200, body: waiting },
    ]);
    const abort = new AbortController();
    const found = shop.importProducts(lines, {
      signal: abort.signal,
      onProgress: (known) => abort.abort(new Error(`given up on ${known.id}`)),
    });
    await expect(found).rejects.toThrow(`given up on ${id}`);
  });

  it('an import of products ends with the error response of the shop', async () => {
    const shop = await clientOf([refused(413, 'content-too-large')]);
    await expect(shop.importProducts(lines)).rejects.toMatchObject({ name: 'ShopError' });
  });
});

describe('a change without a key', () => {
  const change = { params: { path: { accountId: 'me' } }, body: { name: 'Kim' } } as const;

  it.each<[string, Reaction]>([
    ['a broken connection', 'break'],
    ['503', refused(503, 'service-unavailable', { 'Retry-After': '0' })],
  ])('a change without a key is not sent again after %s, because it may have taken effect', async (_name, failure) => {
    const shop = await clientOf([failure, done]);
    await shop.call.PATCH('/v1/accounts/{accountId}', change).catch(() => {});
    expect(server.seen).toHaveLength(1);
    expect(keys()).toStrictEqual([undefined]);
  });

  it('a change without a key is sent again after 429, because it had no effect', async () => {
    const shop = await clientOf([refused(429, 'too-many-requests', { 'Retry-After': '0' }), { status: 200 }]);
    expect((await shop.call.PATCH('/v1/accounts/{accountId}', change)).response.status).toBe(200);
  });
});

describe('a response that is not a problem document', () => {
  const pair = { email: 'kim@example.com', password: 'a long and quiet river' };
  const answers: [string, Reaction][] = [
    ['nothing', { status: 500, headers: { 'Content-Length': '0' }, body: '' }],
    ['an empty text', { status: 500, headers: { 'Transfer-Encoding': 'chunked' }, body: '' }],
    ['a page of HTML', { status: 500, headers: { 'Content-Type': 'text/html' }, body: '<h1>Oh</h1>' }],
    ['other JSON', { status: 500, headers: { 'Content-Type': 'application/json' }, body: { message: 'Oh' } }],
    ['a JSON string', { status: 500, headers: { 'Content-Type': 'application/json' }, body: '"Oh"' }],
  ];
  const refusal = {
    name: 'ShopError',
    message: expect.stringMatching(
      /^The answer of http:\S+\/v1\/(tokens|products\/search|tokens\/revoke) was 500 Internal Server Error$/,
    ),
    status: 500,
    code: undefined,
    problem: undefined,
  };

  it.each(answers)(
    'a response that is not a problem document (%s) is not treated as a success',
    async (_name, answer) => {
      const shop = await clientOf([answer], { tokens: tokens('old') });
      await expect(shop.logIn(pair)).rejects.toMatchObject(refusal);
      await expect(Array.fromAsync(shop.products())).rejects.toMatchObject(refusal);
      await expect(shop.logOut()).rejects.toMatchObject(refusal);
    },
  );

  it.each([
    [304, '304 Not Modified'],
    [500, '500 Internal Server Error'],
  ])('an empty %i has its status as the error', async (status, error) => {
    const shop = await clientOf([{ status, body: '' }]);
    const init = { params: { path: { productId: id } } };
    expect(await shop.call.GET('/v1/products/{productId}', init)).toMatchObject({ error, response: { status } });
  });

  it('an empty success does not count as a log-in', async () => {
    const shop = await clientOf([{ status: 200, headers: { 'Content-Length': '0' }, body: '' }]);
    await expect(shop.logIn(pair)).rejects.toMatchObject({ name: 'ShopError', status: 200 });
  });
});

describe('a log-in', () => {
  const pair = { email: 'kim@example.com', password: 'a long and quiet river' };

  it('a log-in is sent again after a broken connection, because repeating it is harmless', async () => {
    const shop = await clientOf(['break', { status: 200, body: tokens('new') }]);
    await shop.logIn(pair);
    expect(server.seen.map(({ line }) => line)).toEqual(['POST /v1/tokens', 'POST /v1/tokens']);
  });
});

describe('a request', () => {
  it('a request has the media type of its operation, its parameters encoded, and nothing that is undefined', async () => {
    const shop = await clientOf([{ status: 200 }]);
    await shop.call.PATCH('/v1/products/{productId}', {
      params: { path: { productId: 'a/b' }, header: { 'If-Match': '"1"' } },
      body: { name: 'Mug' },
    });
    const query = { q: 'red & blue', brand: ['Fjord', 'Å'], cursor: undefined as unknown as string };
    const attributes = { colour: ['red,blue'], guaranteeYears: ['in:2,3'] };
    await shop.call.GET('/v1/products', { params: { query: { ...query, attributes } } });
    expect(server.seen.map(({ line }) => line)).toEqual([
      'PATCH /v1/products/a%2Fb',
      'GET /v1/products?q=red%20%26%20blue&brand=Fjord&brand=%C3%85' +
        '&attributes.colour=red%2Cblue&attributes.guaranteeYears=in%3A2%2C3',
    ]);
    expect(server.seen[0]?.headers).toMatchObject({
      'content-type': 'application/merge-patch+json',
      'if-match': '"1"',
    });
    expect(server.seen[1]?.headers['content-type']).toBeUndefined();
  });
});

describe('an error', () => {
  it('an error contains the id of the request, also when another server responds', async () => {
    const page: Reaction = {
      status: 500,
      headers: { 'Content-Type': 'text/html', 'X-Request-Id': 'r7' },
      body: '<h1>',
    };
    const shop = await clientOf([refused(409, 'insufficient-stock'), page]);
    const place = () => shop.orders.place(order.body);
    await expect(place()).rejects.toMatchObject({ operation: 'createOrder', requestId: 'a-request' });
    await expect(place()).rejects.toMatchObject({ requestId: 'r7', problem: undefined });
  });

  it('an error is narrowed to the codes that the contract documents for its operation', async () => {
    const shop = await clientOf([refused(409, 'insufficient-stock')]);
    const error: unknown = await shop.orders.place(order.body).catch((thrown: unknown) => thrown);
    expect([isShopError(error), isShopError(error, 'cancelOrder', 'createOrder'), isShopError(error, 'cancelOrder')]) //
      .toEqual([true, true, false]);
    expect(isShopError(new Error('another'))).toBe(false);
    if (!isShopError(error, 'createOrder')) throw error;
    // @ts-expect-error createOrder never returns this code
    expect(error.code === 'email-already-registered').toBe(false);
    expect(error.code === 'insufficient-stock').toBe(true);
    const { error: problem } = await shop.call.POST('/v1/orders', order);
    // @ts-expect-error the problem never has this code either
    expect(problem?.code === 'email-already-registered').toBe(false);
  });
});

describe('pages', () => {
  it('the pages of a list are read when they are taken, until the last', async () => {
    const page = (name: string, nextCursor?: string): Reaction => ({
      status: 200,
      body: { items: [{ name }], pagination: { limit: 1, hasMore: nextCursor !== undefined, nextCursor } },
    });
    const shop = await clientOf([page('Fjord', 'c1'), page('Oak')]);
    const names: (string | undefined)[] = [];
    for await (const { items } of shop.pages('/v1/brands', { params: { query: { limit: 1 } } })) {
      expect(server.seen).toHaveLength(names.length + 1);
      names.push(...items.map(({ name }) => name));
    }
    expect(names).toEqual(['Fjord', 'Oak']);
    expect(server.seen.map(({ line }) => line)).toEqual(['GET /v1/brands?limit=1', 'GET /v1/brands?limit=1&cursor=c1']);
  });

  it('the pages of a list end with the error response of the list that was asked for', async () => {
    const shop = await clientOf([refused(403, 'forbidden')]);
    const init = { params: { query: { email: 'kim@example.com' } } };
    await expect(shop.pages('/v1/accounts', init).next()).rejects.toMatchObject({ operation: 'findAccounts' });
  });
});

describe('the types', () => {
  it('the types accept an account only as a string', async () => {
    const shop = await clientOf([{ status: 200 }]);
    await shop.call.GET('/v1/accounts/{accountId}', { params: { path: { accountId: 'me' } } });
    // @ts-expect-error an id is not a number
    await shop.call.GET('/v1/accounts/{accountId}', { params: { path: { accountId: 7 } } });
    expect(server.seen).toHaveLength(2);
  });

  it('the types contain the errors of a problem and the nearest accepted query', async () => {
    const errors = [{ parameter: 'price', detail: 'not a number', position: 4 }];
    const exceeded = [{ bound: 'conditions', maximum: 20, actual: 21 }];
    const body = { code: 'query-too-costly', detail: '', errors, exceeded, nearest: { filters: {} }, split: [{}] };
    const shop = await clientOf([{ status: 422, body }]);
    const refusal: unknown = await Array.fromAsync(shop.products()).catch((error: unknown) => error);
    const problem = refusal instanceof ShopError ? refusal.problem : undefined;
    expect(problem?.errors?.map(({ parameter, position }) => [parameter, position])).toEqual([['price', 4]]);
    expect(problem?.exceeded?.map(({ bound }) => bound)).toEqual(['conditions']);
    expect(problem?.nearest).toEqual({ filters: {} });
    expect(problem?.split).toEqual([{}]);
  });

  it('the types are those of the published contract', async () => {
    server = await startFaultyShop(() => done);
    const generate = fileURLToPath(new URL('../generate.ts', import.meta.url));
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', generate, '--check']);
  });
});
