// Pages of other origins: which of them may call the API and read its responses, and how preflight requests are
// answered.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { publishedDocument } from '../../../web/src/docs/published-document.ts';
import { operationViews } from '../../../web/src/docs/reference/operation-view.ts';
import { publishedContracts } from '../../src/published-contracts.ts';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const page = 'https://www.shop.example';
const other = 'https://www.shop.example.evil.test';
const preflight = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' };

/** Fields that every page may read (Fetch standard, "CORS-safelisted response-header name"). */
const alwaysReadable = ['content-language'];

/** The other header fields of responses that the published document describes, in lower case. */
function documentedFields(): Set<string> {
  const folder = fileURLToPath(new URL('../../config', import.meta.url));
  const config = parse(readFileSync(`${folder}/gateway.config.yml`, 'utf8'));
  const responses = operationViews(publishedDocument(publishedContracts(config, folder))).flatMap(
    (operation) => operation.responses,
  );
  const names = responses.flatMap(({ headers }) => headers.map(({ name }) => name.toLowerCase()));
  return new Set(names.filter((name) => !alwaysReadable.includes(name)));
}

const fieldsOf = ({ headers }: { headers: Readonly<Record<string, string>> }): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('without CORS_ORIGINS', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it('without CORS_ORIGINS, no response is readable for a page of another origin', async () => {
    for (const [method, headers] of [
      ['GET', {}],
      ['OPTIONS', preflight],
    ] as const) {
      const answer = await gateway.client.call(method, '/v1/products', { headers: { Origin: page, ...headers } });
      expect(answer.status).toBe(200);
      expect([...fieldsOf(answer), answer.headers.vary]).toEqual([undefined]);
    }
  });
});

describe('with a list of origins', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ CORS_ORIGINS: `http://localhost:5173, ${page}`, TRUSTED_PROXIES: '1' });
  });
  afterAll(() => gateway.stop());

  const ask = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    gateway.client.call(method, path, { headers });

  it.each([
    ['a success', '/v1/products', {}, 200],
    ['a missing token', '/v1/orders', {}, 401],
    ['an unknown path', '/v1/nothing', {}, 404],
    ['an invalid request', '/v1/products', { 'X-Request-Id': 'a', Expect: 'nothing' }, 400],
    ['a large header section', '/v1/products', { 'X-Large': 'x'.repeat(17_000) }, 431],
  ])('a page of a listed origin can read %s', async (_name, path, headers, status) => {
    const fields = Object.entries({ Host: 'shop', Origin: page, ...headers }).map((field) => `${field.join(': ')}\r\n`);
    const { answers } = await sendRaw(gateway.port, `GET ${path} HTTP/1.1\r\n${fields.join('')}\r\n`);
    expect(answers).toMatchObject([{ status, headers: { 'access-control-allow-origin': page, vary: 'Origin' } }]);
    expect(answers[0]?.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('the gateway with a list of origins exposes every header field that the published document describes', async () => {
    const { headers } = await ask('GET', '/v1/products', { Origin: page });
    const exposed = headers['access-control-expose-headers']?.toLowerCase().split(', ');
    const documented = documentedFields();
    expect(documented.size).toBeGreaterThan(10);
    expect(exposed).toEqual(expect.arrayContaining(['x-request-id', ...documented]));
  });

  it.each([
    ['another origin', other],
    ['the same host with another scheme', 'http://www.shop.example'],
    ['the same host with another port', `${page}:8443`],
    ['an opaque origin', 'null'],
    ['a list', `${page}, ${page}`],
  ])('a page of %s cannot read a response, and caches separate the origins', async (_name, origin) => {
    for (const headers of [{}, preflight]) {
      const answer = await ask('OPTIONS', '/v1/products', { Origin: origin, ...headers });
      expect(fieldsOf(answer)).toEqual([]);
      expect(answer.headers.vary).toContain('Origin');
    }
  });

  it('the gateway with a list of origins sends Vary: Origin in responses without an origin, too', async () => {
    const answer = await ask('GET', '/v1/products', {});
    expect([answer.status, answer.headers.vary, fieldsOf(answer)]).toEqual([200, 'Origin', []]);
  });

  it('the gateway with a list of origins responds to a preflight request itself', async () => {
    const before = gateway.service.seen.length;
    const answer = await ask('OPTIONS', '/v1/orders', { Origin: page, ...preflight });
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
      'access-control-max-age': '7200',
    });
    expect(answer.headers['access-control-allow-headers']?.split(', ')).toEqual(
      expect.arrayContaining([
        'Authorization',
        'Content-Type',
        'Idempotency-Key',
        'If-Match',
        'If-None-Match',
        'Prefer',
      ]),
    );
    expect(gateway.service.seen).toHaveLength(before);
  });

  it('the gateway with a list of origins counts no preflight request, and responds to it when the limit is used up', async () => {
    const from = { 'X-Forwarded-For': '198.51.100.7', Origin: page };
    const asked = await Promise.all(
      Array.from({ length: 300 }, () => ask('OPTIONS', '/v1/products', { ...from, ...preflight })),
    );
    expect(asked.every(({ status, headers }) => status === 204 && headers.ratelimit === undefined)).toBe(true);
    let limited = await ask('GET', '/v1/products', from);
    expect(limited.status).toBe(200);
    while (limited.status !== 429) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask('GET', '/v1/products', from)));
      limited = answers.find(({ status }) => status === 429) ?? limited;
    }
    expect(limited.headers['access-control-allow-origin']).toBe(page);
    expect(await ask('OPTIONS', '/v1/products', { ...from, ...preflight })).toMatchObject({ status: 204 });
  });

  it('the gateway with a list of origins forwards an OPTIONS request that is not a preflight', async () => {
    const answer = await ask('OPTIONS', '/v1/products', { Origin: page });
    expect([answer.status, answer.headers['access-control-allow-methods']]).toEqual([200, undefined]);
  });

  it('the gateway with a list of origins allows nothing outside the API', async () => {
    for (const path of ['/health/ready', '/problems', '/v1', '/']) {
      const answer = await ask('OPTIONS', path, { Origin: page, ...preflight });
      expect([path, fieldsOf(answer)]).toEqual([path, []]);
    }
  });
});

describe('with http://localhost:*', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ CORS_ORIGINS: `http://localhost:*,${page}` });
  });
  afterAll(() => gateway.stop());

  const allowed = async (origin: string): Promise<string | undefined> => {
    const { headers } = await gateway.client.call('GET', '/v1/products', { headers: { Origin: origin } });
    expect(headers.vary).toContain('Origin');
    return headers['access-control-allow-origin'];
  };

  it.each(['http://localhost:5173', 'http://localhost:80', 'http://localhost', page])(
    'a page of %s can read responses',
    async (origin) => expect(await allowed(origin)).toBe(origin),
  );

  it.each([
    'https://localhost:5173',
    'http://localhost.evil.test:5173',
    'http://evil.test',
    'http://localhost:5173.evil.test',
    'http://127.0.0.1:5173',
    'http://user@localhost:5173',
    'null',
    other,
  ])('a page of %s cannot', async (origin) => expect(await allowed(origin)).toBeUndefined());
});

describe('with *', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ CORS_ORIGINS: '*' });
  });
  afterAll(() => gateway.stop());

  it('every page can read responses, which are the same for all of them', async () => {
    for (const headers of [{ Origin: other }, { Origin: 'null' }, {}]) {
      const answer = await gateway.client.get('/v1/products', { headers });
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect([answer.headers['access-control-allow-credentials'], answer.headers.vary]).toEqual([undefined, undefined]);
    }
    const headers = { Origin: other, ...preflight };
    expect(await gateway.client.call('OPTIONS', '/v1/products', { headers })).toMatchObject({ status: 204 });
  });
});
