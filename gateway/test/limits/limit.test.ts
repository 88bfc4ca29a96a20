// The rate limits, their header fields, and the fallback while the shared counters are unavailable.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { type RedisServer, startRedis } from '../redis-server.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ TRUSTED_PROXIES: '1' });
});
afterAll(() => gateway.stop());

/** Each address is a different client. The gateway trusts one proxy. */
const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
const all = <T>(count: number, ask: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
/**
 * Sends the same requests in small groups, because all servers run in this process and a Redis command times out after
 * 200 ms.
 */
const steadily = async <T>(count: number, ask: (index: number) => Promise<T>) => {
  const answers: T[] = [];
  for (let done = 0; done < count; done += 10) answers.push(...(await all(10, (index) => ask(done + index))));
  return answers;
};
/**
 * Sends 330 concurrent requests. A client may send 100 in each second of the burst, and 100 from its reserve. On a
 * machine so slow that all of them pass, the next attempt repeats the burst as another client.
 */
const burst = async <T extends { status: number }>(ask: (attempt: number, index: number) => Promise<T>) => {
  for (let attempt = 1; ; attempt += 1) {
    const answers = await all(330, (index) => ask(attempt, index));
    if (attempt === 5 || answers.some(({ status }) => status === 429)) return answers;
  }
};
const statuses = (answers: readonly { status: number }[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** A service that refuses every request. */
const refusal =
  (status: number, code: string): TestGateway['service']['answer'] =>
  (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/problem+json' });
    response.end(JSON.stringify({ type: `/problems/${code}`, title: 't', status, detail: 'd', instance: 'i', code }));
  };

describe('a log-in', () => {
  it('the gateway sends the service whether the same network has logged in with the e-mail address before', async () => {
    const knownTo = async (email: string, address: string) => {
      const headers = { 'X-Forwarded-For': address, 'X-Known-Client': '1' };
      expect((await gateway.client.post('/v1/tokens', { headers, body: { email, password: 'p' } })).status).toBe(200);
      return gateway.service.seen.at(-1)?.headers['x-known-client'];
    };
    expect(await knownTo('known@shop.test', '198.51.100.1')).toBeUndefined();
    await eventually(async () => expect(await knownTo('known@shop.test', '198.51.100.1')).toBe('1'));
    expect(await knownTo('known@shop.test', '198.51.100.2')).toBeUndefined();
    expect(await knownTo('other@shop.test', '198.51.100.1')).toBeUndefined();
  });
});

describe('a rate of 100 a second with a reserve of 100', () => {
  it('a rate of 100 a second with a reserve of 100 admits a burst of 200 requests and returns 429 with Retry-After for others', async () => {
    const answers = await burst((attempt) => gateway.client.get('/v1/products', from(`203.0.113.10${attempt}`)));
    expect(statuses(answers)[200]).toBeGreaterThanOrEqual(200);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused).toMatchObject({
      body: { code: 'too-many-requests' },
      headers: {
        'retry-after': expect.stringMatching(/^\d+$/),
        ratelimit: expect.stringMatching(/^"reserve";r=0;t=\d+$/),
      },
    });
    expect(statuses(await all(20, () => gateway.client.get('/v1/products', from('203.0.113.2'))))).toEqual({ 200: 20 });
  });

  it('a rate of 100 a second with a reserve of 100 is separate for each operation', async () => {
    let origin = {};
    const answers = await burst((attempt) => {
      origin = from(`203.0.113.11${attempt}`);
      return gateway.client.get('/v1/products', origin);
    });
    expect(statuses(answers)[429]).toBeGreaterThan(0);
    expect(await gateway.client.get('/v1/products/1', origin)).toMatchObject({ status: 200 });
  });

  it('a rate of 100 a second with a reserve of 100 counts an account across client addresses', async () => {
    const tokens = await all(6, () => gateway.issuer.sign());
    const answers = await burst((attempt, index) =>
      gateway.client.get('/v1/orders', { token: String(tokens[attempt]), ...from(`198.51.100.${index % 250}`) }),
    );
    expect(statuses(answers)[429]).toBeGreaterThan(0);
    expect(
      await gateway.client.get('/v1/orders', { token: await gateway.issuer.sign(), ...from('198.51.100.1') }),
    ).toMatchObject({ status: 200 });
  });

  it('a rate of 100 a second with a reserve of 100 counts an IPv6 network as one client', async () => {
    const answers = await burst((attempt, index) =>
      gateway.client.get('/v1/products', from(`2001:db8:1:${attempt}::${index.toString(16)}`)),
    );
    expect(statuses(answers)[429]).toBeGreaterThan(0);
    expect(await gateway.client.get('/v1/products', from('2001:db8:1:6::1'))).toMatchObject({ status: 200 });
  });

  it.each([
    ['that is forged', async () => ({ token: await gateway.issuer.forge() })],
    ['that is not there', async () => ({})],
  ])(
    'a rate of 100 a second with a reserve of 100 counts a request with a token %s by its client address and not by an account',
    async (_name, credentials) => {
      const bad = await credentials();
      let origin = {};
      const answers = await burst((attempt) => {
        origin = from(`203.0.113.1${Object.keys(bad).length + 2}${attempt}`);
        return gateway.client.get('/v1/orders', { ...bad, ...origin });
      });
      const counted = statuses(answers);
      expect(counted[401]).toBeGreaterThanOrEqual(200);
      expect(counted[429]).toBeGreaterThan(0);
      const refused = answers.find(({ status }) => status === 429);
      expect(refused?.headers).toMatchObject({ 'retry-after': expect.stringMatching(/^\d+$/) });
      const token = await gateway.issuer.sign();
      expect(await gateway.client.get('/v1/orders', { token, ...origin })).toMatchObject({ status: 200 });
    },
  );

  it('a rate of 100 a second with a reserve of 100 is shown in the header fields of every response', async () => {
    const { headers } = await gateway.client.get('/v1/products', from('203.0.113.4'));
    expect(headers).toMatchObject({
      'ratelimit-policy': '"steady";q=100;w=1, "reserve";q=100;w=10',
      ratelimit: '"steady";r=99;t=1',
    });
  });
});

describe('the shipped configuration', () => {
  let shipped: TestGateway;
  beforeAll(async () => {
    const folder = fileURLToPath(new URL('../../config', import.meta.url));
    shipped = await startGateway({ TRUSTED_PROXIES: '1', GATEWAY_CONFIG_DIR: folder });
  });
  afterAll(() => shipped.stop());

  it.each(['/problems', '/docs/errors', '/docs/runbooks'])('the shipped configuration also limits %s', async (path) => {
    const ask = (attempt: number) =>
      fetch(new URL(path, shipped.url), { headers: { 'X-Forwarded-For': `198.51.10${attempt}.${path.length}` } });
    const counted = statuses(await burst(ask));
    expect(counted[200]).toBeGreaterThanOrEqual(200);
    expect(counted[429]).toBeGreaterThan(0);
  });

  it('the shipped configuration limits an account to 300 changes of itself a minute', async () => {
    shipped.service.answer = (_request, response) => void response.end();
    const token = await shipped.issuer.sign();
    const change = () =>
      fetch(new URL('/v1/accounts/me', shipped.url), {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${token}` },
      });
    expect(statuses(await all(310, change))).toEqual({ 200: 300, 429: 10 });
  });

  it('requests that are rejected for one account do not use up the limit of its network', async () => {
    shipped.service.answer = (_request, response) => void response.end();
    const changes = (token: string) => async () => {
      const headers = { Authorization: `Bearer ${token}`, 'X-Forwarded-For': '192.0.2.77' };
      return fetch(new URL('/v1/accounts/me', shipped.url), { method: 'PATCH', headers });
    };
    // The share of the network is that of ten accounts.
    const counted = statuses(await steadily(3_500, changes(await shipped.issuer.sign())));
    expect(counted[429]).toBeGreaterThan(2_000);
    expect((await changes(await shipped.issuer.sign())()).status).toBe(200);
  });

  it('the shipped configuration does not limit health probes', async () => {
    const ask = () => fetch(new URL('/health/ready', shipped.url), { headers: { 'X-Forwarded-For': '198.51.100.1' } });
    expect(statuses(await all(500, ask))).toEqual({ 200: 500 });
  });
});

describe('log-in and registration', () => {
  const logIn = (email: string, address: string) =>
    gateway.client.post('/v1/tokens', { body: { email, password: 'p' }, ...from(address) });
  const refuse = () => {
    gateway.service.answer = refusal(401, 'invalid-credentials');
  };

  it('log-in and registration accept 200 concurrent registrations and 200 concurrent log-ins from one address', async () => {
    gateway.service.answer = (_request, response) => void response.end();
    const register = (index: number) =>
      gateway.client.post('/v1/accounts', { body: { email: `r${index}@shop.test` }, ...from('192.0.2.1') });
    expect(statuses(await all(200, register))).toEqual({ 200: 200 });
    expect(statuses(await all(200, (index) => logIn(`r${index}@shop.test`, '192.0.2.1')))).toEqual({ 200: 200 });
  });

  it('log-in and registration reject the 301st log-in a minute from one address', async () => {
    gateway.service.answer = (_request, response) => void response.end();
    expect(statuses(await all(310, (index) => logIn(`s${index}@shop.test`, '192.0.2.2')))).toEqual({
      200: 300,
      429: 10,
    });
  });

  it('log-in and registration recognize an IPv4 address that a proxy writes as IPv6, and only that one', async () => {
    gateway.service.answer = (_request, response) => void response.end();
    const mapped = await all(300, (index) => logIn(`u${index}@shop.test`, '::ffff:203.0.113.20'));
    expect(statuses(mapped)).toEqual({ 200: 300 });
    expect(await logIn('u300@shop.test', '::ffff:203.0.113.21')).toMatchObject({ status: 200 });
    expect(await logIn('u301@shop.test', '203.0.113.20')).toMatchObject({ status: 429 });
  });

  it('log-in and registration reject an e-mail address in any letter case after 30 failures from one client or 60 from all', async () => {
    refuse();
    const spellings = ['anna@shop.TEST ', ' Anna@Shop.test'];
    const fail = (count: number, address: string) => logIn(String(spellings[count % 2]), address);
    for (let count = 0; count < 30; count += 1) expect(await fail(count, '192.0.2.10')).toMatchObject({ status: 401 });
    await eventually(async () => expect(await fail(0, '192.0.2.10')).toMatchObject({ status: 429 }));
    for (let count = 0; count < 30; count += 1)
      expect(await fail(count, `192.0.2.${count + 11}`)).toMatchObject({ status: 401 });
    const refused = await eventually(async () => {
      const answer = await logIn('anna@shop.test', '192.0.2.100');
      expect(answer.status).toBe(429);
      return answer;
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(20);
    expect(await logIn('berta@shop.test', '192.0.2.100')).toMatchObject({ status: 401 });
  });

  it('log-in and registration apply the same bound to concurrent attempts', async () => {
    refuse();
    const answers = await all(100, (index) => logIn('dora@shop.test', `192.0.2.${index + 110}`));
    expect(statuses(answers)).toEqual({ 401: 60, 429: 40 });
    const oneAddress = await all(40, () => logIn('doris@shop.test', '192.0.2.110'));
    expect(statuses(oneAddress)).toEqual({ 401: 30, 429: 10 });
  });

  it('log-in and registration count an attempt whose client closes the connection', async () => {
    let seen = 0;
    gateway.service.answer = () => {
      seen += 1;
    };
    const leaving = new AbortController();
    const left = all(30, async () => {
      const headers = { 'X-Forwarded-For': '192.0.2.201', 'Content-Type': 'application/json' };
      const body = JSON.stringify({ email: 'emil@shop.test', password: 'p' });
      return fetch(`${gateway.url}/v1/tokens`, { method: 'POST', headers, body, signal: leaving.signal });
    });
    const outcome = expect(left).rejects.toThrow('abort');
    await eventually(() => expect(seen).toBe(30));
    leaving.abort();
    await outcome;
    refuse();
    expect(await logIn('emil@shop.test', '192.0.2.201')).toMatchObject({ status: 429 });
  });

  it('log-in and registration read an e-mail address after a byte order mark, as the service does', async () => {
    refuse();
    const attempt = () =>
      gateway.client.post('/v1/tokens', {
        rawBody: `\ufeff${JSON.stringify({ email: 'frida@shop.test' })}`,
        ...from('192.0.2.202'),
      });
    expect(statuses(await all(31, attempt))).toEqual({ 401: 30, 429: 1 });
  });

  it('log-in and registration are buffered even where larger bodies are allowed', async () => {
    const large = await startGateway({ TRUSTED_PROXIES: '1', BODY_LIMIT: String(1 << 20) });
    try {
      large.service.answer = gateway.service.answer;
      const attempt = (index: number, padding: number) => {
        const text = JSON.stringify({ email: 'gerd@shop.test' });
        const chunks = new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(text.padEnd(padding)));
            controller.close();
          },
        });
        const headers = {
          'X-Forwarded-For': index === 32 ? '192.0.2.32' : '192.0.2.31',
          'Content-Type': 'application/json',
        };
        const request = { method: 'POST', headers, body: chunks, duplex: 'half' };
        return fetch(`${large.url}/v1/tokens`, request as RequestInit);
      };
      const answers = await all(31, (index) => attempt(index, 100));
      expect(statuses(answers)).toEqual({ 401: 30, 429: 1 });
      expect((await attempt(32, 200_000)).status).toBe(413);
    } finally {
      await large.stop();
    }
  });

  it('log-in and registration forward an oversized e-mail address to the service without normalizing it', async () => {
    refuse();
    const answers = await all(31, (index) => logIn(`a${'\u0301'.repeat(2_048)}@shop.test`, `192.0.2.${index + 220}`));
    expect(statuses(answers)).toEqual({ 401: 31 });
  });

  it('log-in and registration do not count successful attempts', async () => {
    gateway.service.answer = (_request, response) => void response.end();
    for (let count = 0; count < 35; count += 1)
      expect(await logIn('carl@shop.test', '192.0.2.101')).toMatchObject({ status: 200 });
  });

  it('log-in and registration forward a body that is not JSON to the service', async () => {
    expect(await gateway.client.post('/v1/tokens', { rawBody: '{', ...from('192.0.2.102') })).toMatchObject({
      status: 200,
    });
  });
});

describe('refusals', () => {
  it('the gateway limits conflicts to 30 a minute for a client address', async () => {
    gateway.service.answer = refusal(409, 'email-already-registered');
    const register = (index: number, address: string) =>
      gateway.client.post('/v1/accounts', { body: { email: `c${index}@shop.test` }, ...from(address) });
    for (let index = 0; index < 30; index += 1)
      expect(await register(index, '192.0.2.230')).toMatchObject({ status: 409 });
    await eventually(async () =>
      expect(await register(31, '192.0.2.230')).toMatchObject({
        status: 429,
        headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      }),
    );
    expect(await register(32, '192.0.2.231')).toMatchObject({ status: 409 });
  });

  it('the gateway limits conflicts to 30 for concurrent requests too', async () => {
    gateway.service.answer = (_request, response) =>
      void setTimeout(() => refusal(409, 'email-already-registered')(_request, response), 200);
    const register = (index: number) =>
      gateway.client.post('/v1/accounts', { body: { email: `d${index}@shop.test` }, ...from('192.0.2.232') });
    const answers = await all(100, register);
    expect(statuses(answers)).toEqual({ 409: 30, 429: 70 });
    const refused = answers.find(({ status }) => status === 429);
    expect(refused).toMatchObject({
      body: { code: 'too-many-requests' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/), 'x-request-id': expect.any(String) },
    });
    expect(refused?.text).not.toContain('email-already-registered');
  });

  it('the gateway limits rejected changes of an account to 30, also for concurrent requests, and no other responses', async () => {
    const folder = fileURLToPath(new URL('../../config', import.meta.url));
    const shipped = await startGateway({ TRUSTED_PROXIES: '1', GATEWAY_CONFIG_DIR: folder });
    try {
      const [token, other] = [await shipped.issuer.sign(), await shipped.issuer.sign()];
      const patch = (bearer: string) => {
        const headers = { Authorization: `Bearer ${bearer}` };
        return fetch(new URL('/v1/accounts/me', shipped.url), { method: 'PATCH', headers });
      };
      shipped.service.answer = (_request, response) => void response.end();
      expect(statuses(await all(60, () => patch(token)))).toEqual({ 200: 60 });
      shipped.service.answer = refusal(403, 'wrong-password');
      expect(statuses(await all(60, () => patch(token)))).toEqual({ 403: 30, 429: 30 });
      shipped.service.answer = (_request, response) => void response.end();
      expect((await patch(token)).status).toBe(429);
      expect((await patch(other)).status).toBe(200);
    } finally {
      await shipped.stop();
    }
  });

  it('the gateway limits conflicts to 30 a minute for an account, and for all accounts of one address', async () => {
    const folder = fileURLToPath(new URL('../../config', import.meta.url));
    const shipped = await startGateway({ TRUSTED_PROXIES: '1', GATEWAY_CONFIG_DIR: folder });
    try {
      shipped.service.answer = refusal(409, 'email-already-registered');
      const patch = async (token: string, address: string): Promise<number> => {
        const headers = { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address };
        return (await fetch(new URL('/v1/accounts/me', shipped.url), { method: 'PATCH', headers })).status;
      };
      const token = await shipped.issuer.sign();
      for (let index = 0; index < 30; index += 1) expect(await patch(token, `192.0.2.${index}`)).toBe(409);
      await eventually(async () => expect(await patch(token, '192.0.2.40')).toBe(429));
      for (let index = 0; index < 30; index += 1)
        expect(await patch(await shipped.issuer.sign(), '192.0.2.50')).toBe(409);
      const other = await shipped.issuer.sign();
      await eventually(async () => expect(await patch(other, '192.0.2.50')).toBe(429));
      expect(await patch(other, '192.0.2.51')).toBe(409);
    } finally {
      await shipped.stop();
    }
  });
});

describe('the accounts of one client address', () => {
  it('the accounts of one client address share a limit of ten times the rate of one account', async () => {
    const tokens = await all(60, () => gateway.issuer.sign());
    gateway.service.answer = (_request, response) => void response.end();
    for (let attempt = 1; ; attempt += 1) {
      const address = `203.0.113.20${attempt}`;
      const answers = await all(1_600, (index) =>
        gateway.client.get('/v1/orders', { token: String(tokens[index % 60]), ...from(address) }),
      );
      const refused = answers.find(({ status }) => status === 429);
      // When 1,600 requests take more than a second, they are counted in two windows.
      if (refused === undefined && attempt < 5) continue;
      expect(refused?.headers).toMatchObject({
        'ratelimit-policy': '"steady";q=100;w=1, "reserve";q=100;w=10, "address";q=1000;w=1',
        ratelimit: expect.stringMatching(/^"address";r=0;t=1$/),
      });
      break;
    }
  });
});

describe('client addresses that a proxy writes', () => {
  it.each([
    ['with a port', '203.0.113.60:1234', '203.0.113.60'],
    ['in brackets with a port', '[2001:db8:9::1]:443', '2001:db8:9::2'],
    ['in quotes', '"[2001:db8:a::1]:443"', '2001:db8:a:0::3'],
    ['as IPv6 in hexadecimal', '::ffff:cb00:713d', '203.0.113.61'],
    ['as IPv6 in full', '0:0:0:0:0:ffff:203.0.113.62', '203.0.113.62'],
  ])("the addresses of a proxy's client count as one client %s", async (_how, written, plain) => {
    gateway.service.answer = (_request, response) => void response.end();
    const logIn = (index: number, address: string) =>
      gateway.client.post('/v1/tokens', { body: { email: `${plain}${index}@shop.test` }, ...from(address) });
    expect(statuses(await all(300, (index) => logIn(index, written)))).toEqual({ 200: 300 });
    expect(await logIn(301, plain)).toMatchObject({ status: 429 });
  });

  it('the gateway limits each client address separately, and forwards the address without its port', async () => {
    const seen: unknown[] = [];
    gateway.service.answer = (request, response) => {
      seen.push(request.headers['x-forwarded-for']);
      response.end();
    };
    for (const address of ['198.51.100.7:80', '[2001:db8:b::1]:80', 'unknown'])
      await gateway.client.get('/v1/products', from(address));
    expect(seen).toEqual(['198.51.100.7', '2001:db8:b::1', '127.0.0.1']);
  });
});

describe('with Redis', () => {
  let redis: RedisServer;
  const pair: TestGateway[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    const environment = { TRUSTED_PROXIES: '1', REDIS_URL: redis.url };
    pair.push(...(await Promise.all([startGateway(environment), startGateway(environment)])));
  });
  afterAll(async () => {
    await Promise.all(pair.map((one) => one.stop()));
    await redis.close();
  });
  const logInAt = (index: number, address: string) =>
    pair[index % 2]?.client.post('/v1/tokens', { body: { email: `t${index}@shop.test` }, ...from(address) }) ??
    Promise.reject();

  it('the gateway with Redis counts the requests of several gateways together', async () => {
    const passed = statuses(await steadily(360, (index) => logInAt(index, '192.0.2.3')))[200] ?? 0;
    expect(passed).toBeGreaterThanOrEqual(300);
    // Each gateway alone would admit all 180 of its requests. A command that Redis does not answer in time is counted
    // by one gateway alone.
    expect(passed).toBeLessThan(330);
    expect([...redis.counts.keys()]).toContain('shop:createToken:steady:192.0.2.3');
  });

  it('the gateway with Redis shares the clients that logged in between the gateways', async () => {
    const [one, other] = pair;
    if (one === undefined || other === undefined) throw new Error('the gateways were not started');
    const own = { body: { email: 'known@shop.test', password: 'p' }, ...from('192.0.2.90') };
    expect(await one.client.post('/v1/tokens', own)).toMatchObject({ status: 200 });
    for (const gateway of pair) gateway.service.answer = refusal(401, 'invalid-credentials');
    for (let count = 0; count < 60; count += 1)
      await one.client.post('/v1/tokens', { body: { email: 'known@shop.test' }, ...from(`198.51.100.${count}`) });
    await eventually(async () =>
      expect(
        await other.client.post('/v1/tokens', { body: { email: 'known@shop.test' }, ...from('198.51.100.99') }),
      ).toMatchObject({ status: 429 }),
    );
    for (const gateway of pair) gateway.service.answer = (_request, response) => void response.end();
    expect(await other.client.post('/v1/tokens', own)).toMatchObject({ status: 200 });
  });

  it('the gateway with Redis treats a Redis that does not respond as unavailable', async () => {
    redis.hang(true);
    expect(await logInAt(0, '192.0.2.6')).toMatchObject({ status: 200 });
    await eventually(() => expect(pair[0]?.output()).toContain('it does not answer'), 15_000);
    redis.hang(false);
    await eventually(() => expect(pair[0]?.output()).toContain('counted together again'), 15_000);
    await eventually(async () => {
      expect(await logInAt(0, '192.0.2.7')).toMatchObject({ status: 200 });
      expect([...redis.counts.keys()]).toContain('shop:createToken:steady:192.0.2.7');
    });
  });

  it('the gateway with Redis lets each gateway count alone while Redis is unavailable, logs it, and recovers', async () => {
    const before = pair[0]?.output().length ?? 0;
    const said = (line: string) => eventually(() => expect(pair[0]?.output().slice(before)).toContain(line), 15_000);
    await redis.close();
    await said('this gateway counts requests alone');
    const alone = await steadily(320, (index) => logInAt(2 * index, '192.0.2.4'));
    expect(statuses(alone)).toEqual({ 200: 300, 429: 20 });
    expect(await logInAt(1, '192.0.2.4')).toMatchObject({ status: 200 });
    await redis.listen();
    await said('counted together again');
    expect(await logInAt(0, '192.0.2.5')).toMatchObject({ status: 200 });
    expect([...redis.counts.keys()]).toContain('shop:createToken:steady:192.0.2.5');
  });
});
