// The requests that the guard refuses, the fields that it does not forward, and its own responses.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const get = async (target: string, extra = '') => {
  const { answers } = await sendRaw(
    gateway.port,
    `GET ${target} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n${extra}\r\n`,
  );
  return { ...answers[0], code: JSON.parse(answers[0]?.body || '{}').code };
};
/** The header fields of every response, even to an incomplete request. */
const always = {
  'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': expect.stringContaining("default-src 'none'"),
};
const seen = () => gateway.service.seen.at(-1)?.headers ?? {};

describe('a path in another form than the accepted one is answered with 404', () => {
  it.each([
    '/',
    '/v1',
    '/v2/products',
    '/v1/Products',
    '/v1/products/',
    '/v1/products/a%20b',
    '/v1/orders/internal/x',
    '/internal/stock',
    '/health',
    '/metrics',
    '/admin',
  ])('a path in another notation returns 404: %s', async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, code: 'not-found' });
  });
  it('a path in another notation returns 404, also for an internal operation under a routed path', async () => {
    const token = await gateway.issuer.sign();
    expect(await get('/v1/orders/internal', `Authorization: Bearer ${token}\r\n`)).toMatchObject({
      status: 404,
      code: 'not-found',
    });
  });
});

describe('an unknown address that is near a known one', () => {
  it.each([
    ['/v1/product', '/v1/products'],
    ['/v1/Products', '/v1/products'],
    ['/v1/products/', '/v1/products'],
    ['/products', '/v1/products'],
    ['/boards', '/board'],
    ['/doc', '/docs'],
    ['/v2/products', '/v1/products'],
    ['/v1/order/01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01/cancel', '/v1/orders/01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01/cancel'],
    ['/v1/orders/x/cancle', '/v1/orders/x/cancel'],
    ['/v1/reviews', undefined],
    ['/internal/reservations', undefined],
  ])('the unknown address %s returns a suggestion of %s', async (path, meant) => {
    const answer = await get(path);
    const detail = `There is nothing at this address.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
    expect([answer.status, JSON.parse(answer.body ?? '').detail]).toEqual([404, detail]);
  });
});

describe('a target that two parsers could read differently is answered with 400', () => {
  it.each([
    '//v1/products',
    '/v1//products',
    '/v1/./products',
    '/v1/x/../products',
    '/v1/%2e%2E/products',
    '/v1/a%2fb',
    '/v1/a%5Cb',
    '/v1/a\\b',
    '/v1/products;a=b',
    '/v1/products%00',
    'http://user@shop/v1/products',
    'http:///v1/products',
    'http://shop//v1/products',
    'http://shop/v1/%2e./products',
    '/v1/products/%%32fadmin',
    '/v1/%2e%2e/products',
    '/v1/products?a#b',
    '*',
  ])('a target that two parsers could read differently returns 400: %s', async (target) => {
    expect(await get(target)).toMatchObject({ status: 400, code: 'invalid-request' });
  });
});

it.each(['*', 'http://shop'])('OPTIONS %s returns the methods of the gateway', async (target) => {
  const { answers } = await sendRaw(
    gateway.port,
    `OPTIONS ${target} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n`,
  );
  expect(answers).toMatchObject([
    { status: 204, headers: { allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS', 'x-request-id': expect.any(String) } },
  ]);
});

describe('another form of a path reaches the service in the only accepted form', () => {
  const id = '01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01';
  it.each([
    ['/v1/%70roducts', '/v1/products'],
    ['/v1/p%72%6Fducts?name=%70', '/v1/products?name=%70'],
    ['/v1/%7A%2Dx', undefined],
    [`/v1/products/${id.replaceAll('-', '%2D')}`, `/v1/products/${id}`],
    [`/v1/products/${id.toUpperCase()}?fields=id`, `/v1/products/${id}?fields=id`],
    ['http://shop/v1/products?limit=1', '/v1/products?limit=1'],
    ['HTTPS://other:8443/v1/products', '/v1/products'],
    [`http://shop/v1/products/${id.toUpperCase()}`, `/v1/products/${id}`],
    ['http://shop', undefined],
    ['http://shop?x', undefined],
    ['/v1/%2570roducts', undefined],
    ['/v1/%50roducts', undefined],
    [`/v1/products/${id.toUpperCase()}A`, undefined],
  ])('the path %s reaches the service as %s', async (target, expected) => {
    const before = gateway.service.seen.length;
    const { status } = await get(target);
    const forwarded = gateway.service.seen.slice(before).map(({ url }) => url);
    expect([status, ...forwarded]).toEqual(expected === undefined ? [404] : [200, expected]);
  });
  it('the host of an absolute-form target reaches the service in its normalized notation and replaces the header field', async () => {
    await get('http://example.com:81/v1/products');
    expect(seen()['x-forwarded-host']).toBe('example.com:81');
    expect((await get('http://exam ple/v1/products')).status).toBe(400);
  });
  it('an absolute-form target without the Host header field, which HTTP/1.1 requires, returns 400', async () => {
    const { answers } = await sendRaw(
      gateway.port,
      'GET http://shop/v1/products HTTP/1.1\r\nConnection: close\r\n\r\n',
    );
    expect(answers.map(({ status }) => status)).toEqual([400]);
  });
});

describe('HTTP/1.0, which needs no Host header field', () => {
  it.each(['/health/live', '/health/ready', '/v1/products'])(
    'an HTTP/1.0 request without Host gets a response at %s',
    async (path) => {
      const { answers } = await sendRaw(gateway.port, `GET ${path} HTTP/1.0\r\n\r\n`);
      expect(answers.map(({ status }) => status)).toEqual([200]);
    },
  );
  it('an HTTP/1.0 request with an invalid Host is rejected', async () => {
    const { answers } = await sendRaw(gateway.port, 'GET /health/live HTTP/1.0\r\nHost: a b\r\n\r\n');
    expect(answers.map(({ status }) => status)).toEqual([400]);
  });
});

describe('the Host header field', () => {
  it.each([
    ['shop_gateway_1:8080', 200],
    ['_shop.internal', 200],
    ['[::1]:8080', 200],
    ['shop gateway', 400],
    ['shop/x', 400],
    ['-shop', 400],
    ['shop:port', 400],
  ])('the Host header field %s returns %i', async (host, expected) => {
    const { answers } = await sendRaw(
      gateway.port,
      `GET /v1/products HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    expect(answers.map(({ status }) => status)).toEqual([expected]);
  });
});

describe('a repeated header field that may occur once is answered with 400', () => {
  it.each([
    ['Host', 'shop'],
    ['Authorization', 'Bearer x'],
    ['Content-Type', 'application/json'],
    ['Content-Encoding', 'identity'],
    ['Expect', '100-continue'],
    ['Idempotency-Key', 'once'],
    ['If-Match', '"1"'],
    ['If-None-Match', '"1"'],
    ['X-Request-Id', 'once'],
    ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['tracestate', 'a=b'],
  ])('a repeated header field that may occur once returns 400: %s', async (name, value) => {
    const again = name === 'Host' ? '' : `${name}: ${value}\r\n`;
    const header = name.toLowerCase();
    const { status, body } = await get('/v1/products', `${again}${name}: ${value}\r\n`);
    expect({ status, ...JSON.parse(body ?? '') }).toMatchObject({
      status: 400,
      code: 'invalid-request',
      errors: [{ header, detail: `The header field ${header} may be given once.` }],
    });
  });
  it.each([
    ['Content-Length', '0'],
    ['Transfer-Encoding', 'chunked'],
  ])('a repeated field %s that frames the body returns 400', async (name, value) => {
    const fields = `${name}: ${value}\r\n`.repeat(2);
    const { answers } = await sendRaw(
      gateway.port,
      `POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n${fields}\r\n0\r\n\r\n`,
    );
    expect(answers[0]?.status).toBe(400);
  });
});

describe('a method that is not allowed', () => {
  it('a method that is not allowed returns 405 and the allowed methods', async () => {
    const answer = await gateway.client.call('DELETE', '/v1/orders');
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS, POST' } });
    expect(answer.body.detail).toBe('The method DELETE is not supported here; GET, HEAD, OPTIONS, POST are.');
  });
  it.each([
    ['TRACE', 'GET, HEAD, OPTIONS, POST'],
    ['PROPFIND', 'GET, HEAD, OPTIONS, POST'],
    ['CONNECT', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS'],
  ])('the method %s returns 405 with the allowed methods', async (method, allow) => {
    const { answers } = await sendRaw(gateway.port, `${method} /v1/orders HTTP/1.1\r\nHost: shop\r\n\r\n`);
    expect(answers[0]).toMatchObject({ status: 405, headers: { 'content-type': 'application/problem+json', allow } });
  });
  it.each(['TRACE', 'PROPFIND', 'PUT'])(
    'a method that is not allowed returns 404 when %s names an unknown path',
    async (method) => {
      const { answers } = await sendRaw(gateway.port, `${method} /v1/nothing HTTP/1.1\r\nHost: shop\r\n\r\n`);
      expect(answers[0]).toMatchObject({ status: 404, headers: { 'content-type': 'application/problem+json' } });
    },
  );
});

describe('limits of size and time', () => {
  it('a request with a body larger than 100 KiB returns 413, with or without a content-length', async () => {
    const large = 'x'.repeat(100 * 1024 + 1);
    expect(await gateway.client.post('/v1/products/search', { rawBody: large })).toMatchObject({
      status: 413,
      body: { code: 'content-too-large' },
    });
    const chunked =
      'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n' +
      `19001\r\n${large}\r\n0\r\n\r\n`;
    expect((await sendRaw(gateway.port, chunked)).answers[0]).toMatchObject({ status: 413 });
  });
  it('the gateway accepts a body of exactly 100 KiB', async () => {
    const answer = await gateway.client.post('/v1/products/search', { rawBody: 'x'.repeat(100 * 1024) });
    expect(answer).toMatchObject({ status: 200 });
  });
  it('the gateway rejects a target of any length above 8 KiB with 414', async () => {
    for (const length of [8_200, 20_000, 60_000]) {
      expect(await get(`/v1/products?x=${'y'.repeat(length)}`)).toMatchObject({ status: 414, code: 'uri-too-long' });
    }
  });
  it('the gateway rejects a header section larger than 16 KiB or with more than 100 fields with 431', async () => {
    expect(await get('/v1/products', `X: ${'y'.repeat(17_000)}\r\n`)).toMatchObject({ status: 431 });
    expect(await get('/v1/products', `X: ${'y'.repeat(60_000)}\r\n`)).toMatchObject({ status: 431 });
    expect(await get('/v1/products', 'X: y\r\n'.repeat(101))).toMatchObject({
      status: 431,
      code: 'header-fields-too-large',
    });
  });
  it.each([
    `HEAD /v1/products?x=${'y'.repeat(20_000)} HTTP/1.1\r\nHost: shop\r\n\r\n`,
    `HEAD /v1/products HTTP/1.1\r\nHost: shop\r\nX: ${'y'.repeat(17_000)}\r\n\r\n`,
    'HEAD /v1/products HTTP/1.1\r\nHost: shop\r\nContent-Length: 1, 2\r\n\r\n',
    'HEAD /v1/products HTTP/1.1\r\nHost: shop\r\nno colon\r\n\r\n',
  ])('the gateway rejects a HEAD request without a body: %#', async (bytes) => {
    const { text } = await sendRaw(gateway.port, bytes);
    expect([text.slice(0, 10), text.endsWith('\r\n\r\n')]).toEqual(['HTTP/1.1 4', true]);
  });
  it('the gateway rejects each unfinished request with 408 within 12 s, even when many time out together', async () => {
    const part = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 10\r\n\r\nhalf';
    const all = await Promise.all(Array.from({ length: 100 }, () => sendRaw(gateway.port, part, 12_000)));
    for (const { answers, closed } of all) {
      expect(answers[0]).toMatchObject({
        status: 408,
        headers: { 'content-type': 'application/problem+json', ...always },
      });
      expect(closed).toBe(true);
    }
  });
});

describe('pipelined requests', () => {
  const get = 'GET /v1/products HTTP/1.1\r\nHost: shop\r\n\r\n';

  it('pipelined requests get responses in order', async () => {
    const last = get.replace('shop\r\n', 'shop\r\nConnection: close\r\n');
    const { answers } = await sendRaw(gateway.port, get.repeat(59) + last, 10_000);
    expect(answers.map(({ status }) => status)).toEqual(new Array(60).fill(200));
  });

  it('pipelined requests end the connection when they are too many, and no waiting one is executed', async () => {
    const before = gateway.service.seen.length;
    const answer = gateway.service.answer;
    gateway.service.answer = () => {};
    try {
      const { closed } = await sendRaw(gateway.port, get.repeat(500), 5_000);
      expect(closed).toBe(true);
      expect(gateway.service.seen.length).toBeLessThanOrEqual(before + 1);
    } finally {
      gateway.service.answer = answer;
    }
    expect(await gateway.client.get('/v1/products')).toMatchObject({ status: 200 });
  });
});

describe('the forwarded request', () => {
  it('the forwarded request contains no field in which a client claims its identity', async () => {
    await gateway.client.get('/v1/products', {
      headers: {
        'X-Forwarded-For': '1.2.3.4',
        Forwarded: 'for=1.2.3.4',
        'X-Forwarded-Host': 'evil',
        'X-Account-Id': 'a',
        'eg-consumer-id': 'b',
        'X-HTTP-Method-Override': 'DELETE',
        X_Account_Id: 'c',
        Cookie: 'd=e',
        'Request-Timeout-Ms': '1',
      },
    });
    expect(seen()).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': `127.0.0.1:${gateway.port}`,
    });
    for (const name of [
      'forwarded',
      'x-account-id',
      'eg-consumer-id',
      'x-http-method-override',
      'x_account_id',
      'cookie',
    ])
      expect(seen()).not.toHaveProperty(name);
    expect(Number(seen()['request-timeout-ms'])).toBeGreaterThan(9_000);
  });
  it('the forwarded request contains no field that Connection names', async () => {
    await get('/v1/products', 'Connection: x-secret\r\nX-Secret: 1\r\nX-Other: 2\r\n');
    expect(seen()).not.toHaveProperty('x-secret');
    expect(seen()).toMatchObject({ 'x-other': '2' });
  });
});

describe('request id and trace', () => {
  it('request id and trace are accepted, returned and forwarded', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { 'X-Request-Id': 'mine-1', traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: 'a=b' };
    const answer = await gateway.client.get('/v1/products', { headers });
    expect(answer.headers).toMatchObject({ 'x-request-id': 'mine-1', traceparent: expect.stringContaining(trace) });
    expect(seen()).toMatchObject({
      'x-request-id': 'mine-1',
      traceparent: answer.headers.traceparent,
      tracestate: 'a=b',
    });
  });
  it("request id and trace are created when the client's values are not safe, also for an error response", async () => {
    const answer = await gateway.client.get('/nowhere', {
      headers: { 'X-Request-Id': 'a b', traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.body.instance).toBe(answer.headers['x-request-id']);
    expect(answer.headers.traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
  });
});

describe('every response', () => {
  it('every response has the security header fields and names no product', async () => {
    for (const path of ['/v1/products', '/nowhere', '/health/live', '/problems']) {
      const { headers } = await gateway.client.get(path);
      expect(headers).toMatchObject(always);
      expect(JSON.stringify(headers)).not.toMatch(/express|undici|node/i);
    }
  });
  it.each([
    ['OPTIONS /problems HTTP/1.1\r\nHost: shop\r\n\r\n', 204],
    ['HELLO\r\n\r\n', 400],
    ['GET other://shop HTTP/1.1\r\nHost: shop\r\n\r\n', 404],
    ['CONNECT shop:1 HTTP/1.1\r\nHost: shop\r\n\r\n', 405],
    [`GET /${'x'.repeat(40_000)} HTTP/1.1\r\n\r\n`, 414],
    [`GET / HTTP/1.1\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
  ])('every response to %.20j has the security header fields, too', async (bytes, status) => {
    const { answers } = await sendRaw(gateway.port, bytes);
    expect(answers).toMatchObject([{ status, headers: always }]);
    if (status !== 204) expect(JSON.parse(answers[0]?.body ?? '').instance).toBe(answers[0]?.headers['x-request-id']);
  });
  it('every response is a problem document when the bytes are not HTTP', async () => {
    for (const bytes of ['\x16\x03\x01\x02\x00\x01\x00\x01', 'HELLO\r\n\r\n', 'GET / HTTP/1.1\nbad header\r\n\r\n']) {
      expect((await sendRaw(gateway.port, bytes)).answers[0]).toMatchObject({
        status: 400,
        headers: { 'content-type': 'application/problem+json' },
      });
    }
  });
  it('every response is still sent after many clients asked for a tunnel and disconnected', async () => {
    for (let count = 0; count < 200; count += 1) {
      const client = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      await once(client, 'connect');
      client.write('CONNECT shop:1 HTTP/1.1\r\nHost: shop\r\n\r\n', () => client.resetAndDestroy());
    }
    expect(await gateway.client.get('/v1/products')).toMatchObject({ status: 200 });
    expect(gateway.process.exitCode).toBeNull();
  });
  it('every response is still sent after many connections closed in the middle of a request', async () => {
    for (let count = 0; count < 50; count += 1) {
      const client = connect(gateway.port, '127.0.0.1');
      client.on('error', () => undefined); // The gateway may answer half a request by a reset.
      client.end('GET /v1/pro');
    }
    expect(await gateway.client.get('/v1/products')).toMatchObject({ status: 200 });
  });
});
