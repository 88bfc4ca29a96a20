// The client renews its tokens, and sends no request with another account's token.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createShop, type ShopOptions } from '../src/index.ts';
import { type FaultyShop, type Reaction, refused, type Seen, startFaultyShop, tokens } from './faulty-shop.ts';

const id = '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01';
const order = { body: { items: [{ productId: id, quantity: 1 }] } };
const done: Reaction = { status: 201, body: { id } };
const pair = { email: 'kim@example.com', password: 'a long and quiet river' };

let server: FaultyShop;
afterEach(async () => {
  jest.restoreAllMocks();
  await server.close();
});

async function clientWith(react: (seen: Seen) => Reaction | Promise<Reaction>, options: Partial<ShopOptions> = {}) {
  server = await startFaultyShop(react);
  return createShop({ baseUrl: server.url, ...options });
}

/** A response that is delayed until the test releases it. */
function heldBack() {
  const asked = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  return {
    /** Resolves when a request waits for the response. */
    asked: asked.promise,
    release: free.resolve,
    async answer(reaction: Reaction): Promise<Reaction> {
      asked.resolve();
      await free.promise;
      return reaction;
    },
  };
}

const renewals = (): readonly Seen[] => server.seen.filter(({ line }) => line === 'POST /v1/tokens');

/** Stops the client's clock at a time. */
function setClock(time: number): void {
  jest.spyOn(Date, 'now').mockReturnValue(time);
}

const bearers = (method: string): unknown[] =>
  server.seen
    .filter(({ line }) => line.startsWith(method) && !line.includes('/tokens'))
    .map(({ headers }) => headers.authorization);

describe('a session', () => {
  const path = { params: { path: { orderId: id } } } as const;
  const order200: Reaction = { status: 200, body: { id } };

  it('a session renews an access token that is about to expire, once for all waiting requests', async () => {
    const kept: (string | undefined)[] = [];
    const shop = await clientWith(
      ({ line }) => (line === 'POST /v1/tokens' ? { status: 200, body: tokens('new') } : order200),
      { tokens: tokens('old', 10), onTokens: (pair) => kept.push(pair?.access_token) },
    );
    await Promise.all([1, 2, 3].map(() => shop.call.GET('/v1/orders/{orderId}', path)));
    const renewals = server.seen.filter(({ line }) => line === 'POST /v1/tokens');
    expect(renewals.map(({ body }) => JSON.parse(body))).toEqual([{ refresh_token: 'refresh-old' }]);
    expect(server.seen.filter(({ headers }) => headers.authorization === 'Bearer access-new')).toHaveLength(3);
    expect(kept).toStrictEqual(['access-old', 'access-new']);
  });

  it('a session renews an access token that is rejected, and sends the request again, with its body and key', async () => {
    const shop = await clientWith(
      ({ line, headers }) => {
        if (line === 'POST /v1/tokens') return { status: 200, body: tokens('new') };
        return headers.authorization === 'Bearer access-new' ? done : refused(401, 'unauthenticated');
      },
      { tokens: tokens('old') },
    );
    expect((await shop.call.POST('/v1/orders', order)).response.status).toBe(201);
    const [first, , second] = server.seen;
    expect(second?.body).toBe(JSON.stringify(order.body));
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  });

  it('a session ends when the refresh token is rejected; the caller gets the 401', async () => {
    const kept: unknown[] = [];
    const shop = await clientWith(() => refused(401, 'unauthenticated'), {
      tokens: tokens('old'),
      onTokens: (pair) => kept.push(pair),
    });
    expect((await shop.call.GET('/v1/orders/{orderId}', path)).response.status).toBe(401);
    expect(kept.at(-1)).toBeUndefined();
    expect(server.seen).toHaveLength(2);
  });

  it('a session retries a renewal without a response, once for all waiting requests', async () => {
    let lost = 0;
    const shop = await clientWith(
      ({ line }) => {
        if (line !== 'POST /v1/tokens') return order200;
        return lost++ < 2 ? 'break' : { status: 200, body: tokens('new') };
      },
      { tokens: tokens('old', 10) },
    );
    await Promise.all([1, 2, 3].map(() => shop.call.GET('/v1/orders/{orderId}', path)));
    const renewals = server.seen.filter(({ line }) => line === 'POST /v1/tokens');
    expect(renewals.map(({ body }) => JSON.parse(body).refresh_token)).toEqual(Array(3).fill('refresh-old'));
    expect(bearers('GET')).toEqual(Array(3).fill('Bearer access-new'));
  });

  it('a session retains its refresh token for the next request when a renewal gets no response', async () => {
    let down = true;
    const shop = await clientWith(
      ({ line }) => {
        if (line !== 'POST /v1/tokens') return order200;
        return down ? 'break' : { status: 200, body: tokens('new') };
      },
      { tokens: tokens('old', 10), attempts: 2 },
    );
    const get = async () => (await shop.call.GET('/v1/orders/{orderId}', path)).response.status;
    // The access token is still valid.
    expect([await get(), await get()]).toEqual([200, 200]);
    expect(renewals()).toHaveLength(2);
    down = false;
    setClock(Date.now() + 6_000);
    expect(await get()).toBe(200);
    expect(bearers('GET')).toEqual(['Bearer access-old', 'Bearer access-old', 'Bearer access-new']);
  });

  it('a session bounds each attempt of a renewal in time', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const limits = jest.spyOn(AbortSignal, 'timeout').mockImplementation((limit) => timeout(limit / 50));
    const shop = await clientWith(
      ({ line }) => {
        if (line !== 'POST /v1/tokens') return order200;
        return renewals().length === 1 ? 'silent' : { status: 200, body: tokens('new') };
      },
      { tokens: tokens('old', 10) },
    );
    await shop.call.GET('/v1/orders/{orderId}', path);
    expect(bearers('GET')).toEqual(['Bearer access-new']);
    expect(limits.mock.calls).toEqual([[10_000], [10_000]]);
  });

  it('a session repeats a renewal only as long as the shop returns the same new token again', async () => {
    const began = Date.now();
    const shop = await clientWith(
      ({ line }) => {
        if (line !== 'POST /v1/tokens') return order200;
        setClock(began + renewals().length * 20_000);
        return 'break';
      },
      { tokens: tokens('old', 10), attempts: 10 },
    );
    await shop.call.GET('/v1/orders/{orderId}', path);
    expect(renewals()).toHaveLength(3);
  });

  it('a session tries no renewal for the time of Retry-After, and accepts anonymous responses', async () => {
    const anonymous: Reaction = {
      status: 200,
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
      body: { id, name: 'for everyone' },
    };
    const shop = await clientWith(
      ({ line }) =>
        line === 'POST /v1/tokens' ? refused(503, 'service-unavailable', { 'Retry-After': '40' }) : anonymous,
      { tokens: tokens('old', 0) },
    );
    const get = async () =>
      (await shop.call.GET('/v1/products/{productId}', { params: { path: { productId: id } } })).data?.name;
    expect([await get(), await get()]).toEqual(['for everyone', 'for everyone']);
    expect(renewals()).toHaveLength(1);
    setClock(Date.now() + 41_000);
    await get();
    expect(renewals()).toHaveLength(2);
  });

  it.each([
    [200, { id, name: 'for everyone' }],
    [404, { code: 'not-found', detail: 'There is no such product.' }],
  ])(
    'a session renews a token that a public operation ignored (%i), and sends the request again',
    async (status, body) => {
      const headers = { 'WWW-Authenticate': 'Bearer realm="shop", error="invalid_token"' };
      const anonymous: Reaction = { status, headers, body };
      const shop = await clientWith(
        ({ line, headers }) => {
          if (line === 'POST /v1/tokens') return { status: 200, body: tokens('new') };
          return headers.authorization === 'Bearer access-new'
            ? { status: 200, body: { id, name: 'for staff' } }
            : anonymous;
        },
        { tokens: tokens('old') },
      );
      const { data } = await shop.call.GET('/v1/products/{productId}', { params: { path: { productId: id } } });
      expect(data?.name).toBe('for staff');
      expect(server.seen).toHaveLength(3);
    },
  );

  it('a session accepts the anonymous response when it cannot be renewed', async () => {
    const shop = await clientWith(
      ({ line }) => {
        if (line === 'POST /v1/tokens') return refused(401, 'invalid-credentials');
        return { status: 200, headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' }, body: { id } };
      },
      { tokens: tokens('old') },
    );
    const { data } = await shop.call.GET('/v1/products/{productId}', { params: { path: { productId: id } } });
    expect(data?.id).toBe(id);
    expect(server.seen).toHaveLength(2);
  });

  it.each<[string, Reaction]>([
    ['401', { status: 401, body: '<html>Log in to the network</html>' }],
    ['401 in JSON', { status: 401, body: { code: 401, message: 'Unauthorized' } }],
    ['200', { status: 200, body: '<html>Log in to the network</html>' }],
    ['200 in JSON', { status: 200, body: { success: true } }],
  ])('a session stays valid when another server responds to its renewal with %s', async (_status, foreign) => {
    const kept: (string | undefined)[] = [];
    const shop = await clientWith(({ line }) => (line === 'POST /v1/tokens' ? foreign : order200), {
      tokens: tokens('old', 10),
      onTokens: (pair) => kept.push(pair?.access_token),
    });
    await shop.call.GET('/v1/orders/{orderId}', path);
    expect(renewals()).toHaveLength(1);
    expect(kept).toEqual(['access-old']);
    expect(bearers('GET')).toEqual(['Bearer access-old']);
  });

  it('a session logs out in the client and at the shop', async () => {
    const shop = await clientWith(() => ({ status: 204 }), { tokens: tokens('old') });
    await shop.logOut();
    expect(server.seen.map(({ line, body }) => [line, body])).toEqual([
      ['POST /v1/tokens/revoke', JSON.stringify({ refresh_token: 'refresh-old' })],
    ]);
    await shop.call.GET('/v1/orders/{orderId}', path);
    expect(server.seen[1]?.headers.authorization).toBeUndefined();
  });
});

describe('another account that logs in', () => {
  const path = { params: { path: { orderId: id } } } as const;

  it('tokens of another tab continue its log-in without a request, in place of the present session', async () => {
    const kept: (string | undefined)[] = [];
    const options: Partial<ShopOptions> = { tokens: tokens('A'), onTokens: (given) => kept.push(given?.access_token) };
    const shop = await clientWith(() => done, options);
    await shop.logIn(tokens('B'));
    await shop.call.POST('/v1/orders', order);
    expect(bearers('POST')).toStrictEqual(['Bearer access-B']);
    expect(renewals()).toEqual([]);
    expect(kept).toStrictEqual(['access-A', 'access-B']);
  });

  it.each<[string, Reaction]>([
    ['has succeeded', { status: 200, body: tokens('A2') }],
    ['is refused', refused(401, 'unauthenticated')],
  ])('a second account stays logged in when the renewal of the previous account %s', async (_name, outcome) => {
    const kept: (string | undefined)[] = [];
    const renewal = heldBack();
    const shop = await clientWith(
      ({ line, body }) => {
        if (line !== 'POST /v1/tokens') return done;
        return body.includes('refresh-A') ? renewal.answer(outcome) : { status: 200, body: tokens('B') };
      },
      { tokens: tokens('A', 10), onTokens: (given) => kept.push(given?.access_token) },
    );
    const waiting = shop.call.GET('/v1/orders/{orderId}', path);
    await renewal.asked;
    await shop.logIn(pair);
    renewal.release();
    await waiting;
    await shop.call.POST('/v1/orders', order);
    expect(bearers('POST')).toStrictEqual(['Bearer access-B']);
    expect(kept).toStrictEqual(['access-A', 'access-B']);
    // The request of the former account is sent without a token.
    expect(bearers('GET')).toStrictEqual([undefined]);
  });

  it('a second account does not wait for the renewal of the previous account', async () => {
    const renewal = heldBack();
    const shop = await clientWith(
      ({ line, body }) => {
        if (line !== 'POST /v1/tokens') return done;
        if (body.includes('refresh-A')) return renewal.answer({ status: 200, body: tokens('A2') });
        return { status: 200, body: body.includes('refresh-B') ? tokens('B2') : tokens('B', 10) };
      },
      { tokens: tokens('A', 10) },
    );
    const waiting = shop.call.GET('/v1/orders/{orderId}', path);
    await renewal.asked;
    await shop.logIn(pair);
    await shop.call.POST('/v1/orders', order);
    expect(bearers('POST')).toStrictEqual(['Bearer access-B2']);
    renewal.release();
    await waiting;
  });

  it.each<[string, Reaction]>([
    ['is refused', refused(503, 'service-unavailable')],
    ['is lost', 'break'],
  ])(
    'logging in a second account stops the retries of an order of the previous account that %s',
    async (_name, failure) => {
      const first = heldBack();
      const shop = await clientWith(
        ({ line }) => (line === 'POST /v1/tokens' ? { status: 200, body: tokens('B') } : first.answer(failure)),
        { tokens: tokens('A') },
      );
      const ordering = shop.call.POST('/v1/orders', order).then(
        ({ response }) => response.status,
        () => 'lost',
      );
      await first.asked;
      await shop.logIn(pair);
      first.release();
      expect(await ordering).toBe(failure === 'break' ? 'lost' : 503);
      expect(bearers('POST')).toStrictEqual(['Bearer access-A']);
    },
  );

  it('logging in a second account stops the waiting retry of an order of the previous account', async () => {
    const shop = await clientWith(
      ({ line }) =>
        line === 'POST /v1/tokens'
          ? { status: 200, body: tokens('B') }
          : refused(503, 'service-unavailable', { 'Retry-After': '1' }),
      { tokens: tokens('A') },
    );
    const ordering = shop.call.POST('/v1/orders', order);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await shop.logIn(pair);
    expect((await ordering).response.status).toBe(503);
    expect(bearers('POST')).toStrictEqual(['Bearer access-A']);
  });

  it('logging in a second account does not send the order of the previous account', async () => {
    const refusal = heldBack();
    const shop = await clientWith(
      ({ line, headers }) => {
        if (line === 'POST /v1/tokens') return { status: 200, body: tokens('B') };
        return headers.authorization === 'Bearer access-A' ? refusal.answer(refused(401, 'unauthenticated')) : done;
      },
      { tokens: tokens('A') },
    );
    const ordering = shop.call.POST('/v1/orders', order);
    await refusal.asked;
    await shop.logIn(pair);
    refusal.release();
    expect((await ordering).response.status).toBe(401);
    expect(bearers('POST')).toStrictEqual(['Bearer access-A']);
  });
});

describe('a log-out', () => {
  const path = { params: { path: { orderId: id } } } as const;

  it.each<[string, Reaction]>([
    ['failed', refused(500, 'internal-error')],
    ['another server answered', { status: 200, body: '<html>Log in to the network</html>' }],
    ['another server answered in JSON', { status: 200, body: {} }],
  ])('a log-out that %s can be repeated, and then revokes the token', async (_name, first) => {
    const revocations = () => server.seen.filter(({ line }) => line === 'POST /v1/tokens/revoke');
    const shop = await clientWith(() => (revocations().length === 1 ? first : { status: 204 }), {
      tokens: tokens('A'),
    });
    await expect(shop.logOut()).rejects.toMatchObject({ name: 'ShopError', operation: 'revokeToken' });
    await shop.logOut();
    await shop.logOut();
    const { refresh_token } = tokens('A');
    expect(revocations().map(({ body }) => JSON.parse(body))).toEqual([{ refresh_token }, { refresh_token }]);
  });

  it('a log-out stays effective when a renewal ends after it', async () => {
    const kept: (string | undefined)[] = [];
    const renewal = heldBack();
    const shop = await clientWith(
      ({ line }) => {
        if (line === 'POST /v1/tokens') return renewal.answer({ status: 200, body: tokens('A2') });
        return line === 'POST /v1/tokens/revoke' ? { status: 204 } : done;
      },
      { tokens: tokens('A', 10), onTokens: (given) => kept.push(given?.access_token) },
    );
    const waiting = shop.call.GET('/v1/orders/{orderId}', path);
    await renewal.asked;
    await shop.logOut();
    renewal.release();
    await waiting;
    await shop.call.POST('/v1/orders', order);
    expect(bearers('POST')).toStrictEqual([undefined]);
    expect(kept).toStrictEqual(['access-A', undefined]);
  });
});

describe('a caller that aborts while a token is renewed', () => {
  const path = { params: { path: { orderId: id } } } as const;

  it.each([
    ['because it is about to expire', tokens('A', 10)],
    ['because it is refused', tokens('A')],
  ])('an aborted call (%s) rejects immediately, and the other calls get the new token', async (_name, held) => {
    const renewal = heldBack();
    const shop = await clientWith(
      ({ line, headers }) => {
        if (line === 'POST /v1/tokens') return renewal.answer({ status: 200, body: tokens('A2') });
        return headers.authorization === 'Bearer access-A2' ? done : refused(401, 'unauthenticated');
      },
      { tokens: held },
    );
    const caller = new AbortController();
    const givenUp = expect(
      shop.call.GET('/v1/orders/{orderId}', { ...path, signal: caller.signal }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    await renewal.asked;
    const waiting = shop.call.GET('/v1/orders/{orderId}', path);
    caller.abort();
    await givenUp;
    renewal.release();
    expect((await waiting).response.status).toBe(201);
    expect(server.seen.filter(({ line }) => line === 'POST /v1/tokens')).toHaveLength(1);
  });
});

describe('a shop below a path', () => {
  it('a shop below a path gets the requests for tokens below its path, and a log-in without a token', async () => {
    server = await startFaultyShop(({ line }) => {
      if (line.endsWith('/revoke')) return { status: 204 };
      return line.includes('/tokens') ? { status: 200, body: tokens('B') } : done;
    });
    const shop = createShop({ baseUrl: `${server.url}/shop/`, tokens: tokens('A', 10) });
    await shop.call.POST('/v1/orders', order);
    await shop.logIn(pair);
    await shop.logOut();
    expect(server.seen.map(({ line, headers }) => [line, headers.authorization])).toEqual([
      ['POST /shop/v1/tokens', undefined],
      ['POST /shop/v1/orders', 'Bearer access-B'],
      ['POST /shop/v1/tokens', undefined],
      ['POST /shop/v1/tokens/revoke', undefined],
    ]);
  });
});

describe('a machine', () => {
  const credentials = { client_id: id, client_secret: 'a-secret' };
  const grant = { grant_type: 'client_credentials', ...credentials };
  const token = (name: string, seconds = 900): Reaction => {
    const { refresh_token: _, ...body } = tokens(name, seconds);
    return { status: 200, body };
  };
  const money = { reference: 'ch_1', amount: 5, currency: 'EUR' };

  it('a machine logs in with its secret, and renews its token with it when the token expires or is rejected', async () => {
    const given: unknown[] = [];
    let issued = 0;
    const shop = await clientWith(
      ({ line, headers }) => {
        if (line === 'POST /v1/tokens') return token(`t${++issued}`, issued === 1 ? 10 : 900);
        return headers.authorization === 'Bearer access-t3' ? done : refused(401, 'unauthenticated');
      },
      { onTokens: (pair) => given.push(pair) },
    );
    await shop.logIn(credentials);
    expect(await shop.orders.pay(id, money)).toEqual({ id });
    expect(renewals().map(({ body }) => JSON.parse(body))).toEqual([grant, grant, grant]);
    expect(bearers('POST')).toEqual(['Bearer access-t2', 'Bearer access-t3']);
    // They are no tokens that a later client could renew.
    expect(given).toEqual([]);
  });

  it('a machine sends no token after its secret was rejected, or after its log-out', async () => {
    let refuses = false;
    const given: unknown[] = [];
    const shop = await clientWith(
      ({ line }) => {
        if (line !== 'POST /v1/tokens') return refuses ? refused(401, 'unauthenticated') : done;
        return refuses ? refused(401, 'invalid-credentials') : token('t');
      },
      { onTokens: (pair) => given.push(pair) },
    );
    await shop.logIn(credentials);
    refuses = true;
    await expect(shop.orders.pay(id, money)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(given).toEqual([undefined]);
    refuses = false;
    await shop.logIn(credentials);
    await shop.logOut();
    await shop.orders.pay(id, money);
    expect(bearers('POST')).toEqual(['Bearer access-t', undefined]);
    expect(server.seen.map(({ line }) => line)).not.toContain('POST /v1/tokens/revoke');
  });
});
