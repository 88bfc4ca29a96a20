// Slow, broken, unavailable and recovering upstreams, and clients that close the connection: no request waits forever.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { type StubService, startStub } from '../stub-service.ts';

let gateway: TestGateway;
let one: StubService;
let two: StubService;

beforeAll(async () => {
  [one, two] = await Promise.all([startStub(), startStub()]);
  answerNormally(one);
  answerNormally(two);
  gateway = await startGateway({
    CATALOGUE_URL: `${one.url}, ${two.url}`,
    REQUEST_TIMEOUT_MS: '3000',
    TRUSTED_PROXIES: '1',
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([one.close(), two.close()]);
});

const answerNormally = (stub: StubService) => {
  stub.answer = (_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ from: stub.port }));
  };
};
const breakOff = (stub: StubService) => {
  stub.answer = (request) => void request.socket.destroy();
};
afterEach(async () => {
  for (const stub of [one, two, gateway.service]) answerNormally(stub);
  // Both addresses are in rotation when requests reach both.
  await eventually(async () => {
    const from = [await ask(), await ask(), await ask(), await ask()].map(({ body }) => body.from);
    expect(new Set(from)).toEqual(new Set([one.port, two.port]));
  }, 10_000);
});

let asked = 0;
/** Each request comes from another client address, so that no number of them reaches the rate limit. */
const ask = () => {
  asked += 1;
  return gateway.client.get('/v1/products/1', { headers: { 'X-Forwarded-For': `192.0.2.${asked % 250}` } });
};
const search = (headers: Record<string, string> = {}) =>
  gateway.client.post('/v1/products/search', { body: { a: 1 }, headers });
const staffToken = () => gateway.issuer.sign({ scopes: ['catalogue:write'] });

describe('several addresses', () => {
  it('the gateway distributes requests over several addresses of a service', async () => {
    const from = [];
    for (let count = 0; count < 8; count += 1) from.push((await ask()).body.from);
    expect(from.filter((port) => port === one.port)).toHaveLength(4);
  });

  it('the gateway closes idle connections of several addresses early, even though the service allows more', async () => {
    const connections = () =>
      new Promise<number>((resolve) => void one.server.getConnections((_error, count) => resolve(count)));
    const held: ServerResponse[] = [];
    one.answer = two.answer = (_request, response) => {
      held.push(response);
      if (held.length === 20) for (const each of held) each.end();
    };
    await Promise.all(Array.from({ length: 20 }, ask));
    expect(await connections()).toBeGreaterThan(5);
    // The remaining connection belongs to the probe.
    await eventually(async () => expect(await connections()).toBeLessThanOrEqual(2), 20_000);
  });

  it('the gateway sends a safe request to the second address when the first one closes the connection', async () => {
    breakOff(one);
    for (let count = 0; count < 8; count += 1)
      expect(await ask()).toMatchObject({ status: 200, body: { from: two.port } });
  });

  it('the gateway retries a request with an idempotency key at the second address, with its whole body', async () => {
    breakOff(one);
    two.seen.length = 0;
    const token = await staffToken();
    for (let count = 0; count < 4; count += 1) {
      const headers = { 'Idempotency-Key': `k-${count}` };
      expect(await gateway.client.post('/v1/products', { token, headers, body: { a: 1 } })).toMatchObject({
        status: 200,
      });
    }
    expect(two.seen.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual(
      new Array(4).fill('{"a":1}'),
    );
  });

  it.each([
    ['any other request', {}],
    ['a request of an operation that takes no key', { 'Idempotency-Key': 'k' }],
  ])('the gateway does not retry %s after it was sent, and returns 502', async (_name, headers) => {
    breakOff(one);
    two.seen.length = 0;
    const answers = [await search(headers), await search(headers)];
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 502]);
    expect(answers.find(({ status }) => status === 502)?.body).toMatchObject({ code: 'bad-gateway' });
    expect(two.seen).toHaveLength(1);
  });

  it('the gateway does not retry a request with an idempotency key that is not forwarded', async () => {
    breakOff(one);
    two.seen.length = 0;
    const body = '{"a":1}';
    const named =
      `POST /v1/products HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${await staffToken()}\r\n` +
      `Connection: close, Idempotency-Key\r\nIdempotency-Key: k\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const exchanges = [await sendRaw(gateway.port, named), await sendRaw(gateway.port, named)];
    expect(exchanges.map(({ answers }) => answers[0]?.status).sort()).toEqual([200, 502]);
    expect(two.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined]);
  });

  it('the gateway loses no request, of any method, when one of several addresses rejects connections', async () => {
    await one.close();
    for (let count = 0; count < 8; count += 1)
      expect(await search()).toMatchObject({ status: 200, body: { from: two.port } });
    await one.listen();
  });

  it('the gateway stops using an address when most of its requests fail, except for trials after one and two more seconds', async () => {
    const failed: number[] = [];
    one.answer = (request) => {
      failed.push(performance.now());
      request.socket.destroy();
    };
    while (!gateway.output().includes('most requests to the address fail')) await ask();
    const opened = failed.length;
    while (failed.length < opened + 2) {
      expect(await ask()).toMatchObject({ status: 200, body: { from: two.port } });
      await setTimeout(50);
    }
    const pauses = failed.map((at, index) => at - (failed[index - 1] ?? at)).slice(opened);
    expect(pauses[0]).toBeGreaterThan(1_000);
    expect(pauses[1]).toBeGreaterThan(2_000);
  });

  it('the gateway sends no request to an address that is not ready', async () => {
    one.ready = false;
    await eventually(async () => {
      expect([await ask(), await ask(), await ask()].map(({ body }) => body.from)).toEqual(new Array(3).fill(two.port));
    });
    one.ready = true;
  });
});

describe('a response', () => {
  it('a late response becomes a 504', async () => {
    one.answer = two.answer = () => {};
    expect(await ask()).toMatchObject({ status: 504, body: { code: 'gateway-timeout' } });
  });

  it('a response that is not HTTP becomes a 502', async () => {
    one.answer = two.answer = (request) => void request.socket.end('NONSENSE\r\n\r\n');
    expect(await search()).toMatchObject({ status: 502 });
  });

  it('a truncated response does not look complete', async () => {
    one.answer = two.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"half":');
      response.once('drain', () => {});
      void setTimeout(50).then(() => response.destroy());
    };
    await expect(fetch(`${gateway.url}/v1/products/1`).then((answer) => answer.text())).rejects.toThrow();
  });

  it('the gateway reads a response from the service only as fast as the client reads it', async () => {
    let written = 0;
    one.answer = two.answer = async (_request, response) => {
      const chunk = Buffer.alloc(1 << 20);
      for (let count = 0; count < 300 && !response.destroyed; count += 1) {
        written += chunk.length;
        if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
      }
      response.end();
    };
    const socket = connect(gateway.port, '127.0.0.1');
    socket.pause();
    socket.write('GET /v1/products/1 HTTP/1.1\r\nHost: shop\r\n\r\n');
    await setTimeout(1_000);
    const before = written;
    expect(before).toBeLessThan(60 << 20);
    socket.resume();
    await eventually(() => expect(written).toBeGreaterThan(before + (50 << 20)));
    socket.destroy();
  });
});

describe('a client that closes the connection', () => {
  it('a client that closes the connection cancels its request to the service', async () => {
    const left: Promise<unknown>[] = [];
    one.answer = two.answer = (_request, response) => void left.push(once(response, 'close'));
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('GET /v1/products/1 HTTP/1.1\r\nHost: shop\r\n\r\n');
    await eventually(() => expect(left).toHaveLength(1));
    socket.destroy();
    await left[0];
  });
});

describe('the breaker of an address', () => {
  it('the breaker of an address opens when most requests fail, returns 503 without another address, and closes after a successful trial', async () => {
    // A passed probe would close the breaker.
    gateway.service.ready = false;
    breakOff(gateway.service);
    const register = () => gateway.client.post('/v1/accounts', { body: {} });
    const statuses = [];
    for (let count = 0; count < 25; count += 1) statuses.push((await register()).status);
    expect(statuses.slice(0, 20)).toEqual(new Array(20).fill(502));
    const refused = await register();
    expect(refused).toMatchObject({ status: 503, body: { code: 'service-unavailable' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    answerNormally(gateway.service);
    gateway.service.ready = true;
    await eventually(async () => expect(await register()).toMatchObject({ status: 200 }), 10_000);
  });

  it('the breaker of an address uses a complete request as its trial, and not one that a slow client is still sending', async () => {
    // A passed probe would close the breaker before the trial.
    gateway.service.ready = false;
    try {
      breakOff(gateway.service);
      const token = await gateway.issuer.sign({});
      const order = () => gateway.client.post('/v1/orders', { body: {}, token });
      let refused = await order();
      while (refused.status !== 503) refused = await order();
      answerNormally(gateway.service);
      await setTimeout(Number(refused.headers['retry-after']) * 1_000);
      const slow = connect(gateway.port, '127.0.0.1');
      const fields = `Host: shop\r\nAuthorization: Bearer ${token}\r\nContent-Length: 2`;
      slow.write(`POST /v1/orders HTTP/1.1\r\n${fields}\r\n\r\n{`);
      await setTimeout(200);
      expect(await order()).toMatchObject({ status: 200 });
      slow.write('}');
      const [answer] = (await once(slow, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
      slow.destroy();
    } finally {
      gateway.service.ready = true;
    }
  });
});

describe('an unavailable service', () => {
  it('an unavailable service causes 503 with Retry-After and a gateway that is not ready but accepts requests, until it recovers', async () => {
    await gateway.service.close();
    const answer = await gateway.client.post('/v1/accounts', { body: {} });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': expect.any(String) } });
    await eventually(async () => {
      const health = await fetch(`${gateway.url}/health/ready`);
      expect(await health.json()).toEqual({
        status: 'not ready',
        checks: { accounts: 'failing', orders: 'failing', catalogue: 'ok' },
      });
    });
    expect((await fetch(`${gateway.url}/health/accepting`)).status).toBe(200);
    await gateway.service.listen();
    await eventually(async () => expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200));
    expect(await gateway.client.post('/v1/accounts', { body: {} })).toMatchObject({ status: 200 });
  });
});

describe('a large body', () => {
  it('a large body with a sender that is too slow does not count against the service', async () => {
    const large = await startGateway({ BODY_LIMIT: String(64 << 20), REQUEST_TIMEOUT_MS: '500' });
    try {
      large.service.answer = (_request, response) => void response.end('{}');
      const part = `POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: ${1 << 20}\r\n\r\nhalf`;
      const exchanges = await Promise.all(Array.from({ length: 25 }, () => sendRaw(large.port, part, 5_000)));
      expect(exchanges.map(({ answers }) => answers[0]?.status)).toEqual(new Array(25).fill(504));
      await eventually(async () => {
        expect(await large.client.post('/v1/products/search', { body: {} })).toMatchObject({ status: 200 });
      });
      expect(large.output()).not.toContain('most requests to the address fail');
    } finally {
      await large.stop();
    }
  });

  it('a large body is streamed to the service with its length', async () => {
    const large = await startGateway({ BODY_LIMIT: String(64 << 20) });
    try {
      large.service.answer = (_request, response) => void response.end('{}');
      const rawBody = 'x'.repeat(20 << 20);
      expect(await large.client.post('/v1/products/search', { rawBody })).toMatchObject({ status: 200 });
      expect(large.service.seen.at(-1)).toMatchObject({
        headers: { 'content-length': String(20 << 20) },
        body: rawBody,
      });
    } finally {
      await large.stop();
    }
  });
});
