// The steps of every request to a service, over HTTP, with a contract of a few operations.
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTokenVerifier, type TokenVerifier } from '@shop/shared/auth';
import { loadContract } from '@shop/shared/contract';
import { connectDatabase, type Database } from '@shop/shared/database';
import { createApp, idempotent, type OperationRequest, toEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { createHealth, type Log, newId, type Secrets } from '@shop/shared/runtime';
import {
  createClient,
  createTestDatabase,
  eventually,
  startIssuer,
  type TestClient,
  type TestDatabase,
  type TestIssuer,
} from '@shop/shared/testing';
import { pino } from 'pino';

const contract = loadContract(new URL('./sample.openapi.yaml', import.meta.url));
const lines: Record<string, unknown>[] = [];
const log: Log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });

let issuer: TestIssuer;
let verifier: TokenVerifier;
let testDatabase: TestDatabase;
let database: Database;
let server: Server;
let client: TestClient;
let token: string;
const nextPage = '</v1/notes?cursor=x>; rel="next"';
let seen: OperationRequest | undefined;
let effects = 0;
let idempotencySecrets: Secrets = ['only-for-tests'];
let work: () => Promise<void> = async () => {};
/** The pieces that listNotes sends. */
let pieces: (() => AsyncGenerator<string>) | undefined;

beforeAll(async () => {
  [issuer, testDatabase] = await Promise.all([startIssuer(), createTestDatabase([])]);
  verifier = createTokenVerifier({ jwksUrl: issuer.jwksUrl, issuer: issuer.issuer, audience: issuer.audience, log });
  database = connectDatabase({ url: testDatabase.adminUrl, name: 'test', log });
  for (const name of ['0002_idempotency', '0007_canonical_fingerprint']) {
    await database.pool.query(await readFile(new URL(`../../migrations/${name}.sql`, import.meta.url), 'utf8'));
  }
  const app = createApp({
    name: 'notes',
    contract,
    context: {
      database,
      get idempotencySecrets() {
        return idempotencySecrets;
      },
    },
    verifier,
    health: createHealth(),
    log,
    operations: {
      listNotes: async (request: OperationRequest) => {
        seen = request;
        await work();
        if (pieces !== undefined) return { status: 200, stream: pieces() };
        return { status: 200, body: request.query, headers: request.query.limit === 1 ? { Link: nextPage } : {} };
      },
      createNote: (request: OperationRequest, context) => {
        seen = request;
        return idempotent(request, context, async () => {
          effects += 1;
          const effect = effects;
          await work();
          return { status: 201, body: { effect, body: request.body as object } };
        });
      },
      pinNote: async () => {
        effects += 1;
        return { status: 204 };
      },
      markNote: async () => ({ status: 204 }),
      getNote: async () => ({ status: 200, body: { id: 'x' }, etag: toEtag(7) }),
    },
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  client = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, [contract]);
  token = await issuer.sign({ scopes: ['notes:write'] });
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await verifier.close();
  await database.close();
  await Promise.all([issuer.close(), testDatabase.drop()]);
});

const post = (body: unknown, headers: Record<string, string> = {}) =>
  client.post('/v1/notes', { token, body, headers });

describe('contract', () => {
  it('the application refuses to start when an operation has no function or a function no operation', () => {
    const options = { name: 'notes', contract, context: {}, verifier, health: createHealth(), log };
    const result = async () => ({ status: 200 });
    expect(() => createApp({ ...options, operations: { listNotes: result, createNote: result } })).toThrow(
      'operation getNote has no function',
    );
    expect(() =>
      createApp({ ...options, operations: { listNotes: result, createNote: result, getNote: result, other: result } }),
    ).toThrow('function other has no operation');
  });

  it('an unknown path, another case, a trailing slash, or an impossible id returns 404', async () => {
    for (const path of ['/', '/v2/notes', '/V1/notes', '/v1/notes/', '/v1/notes/not-a-uuid']) {
      const answer = await client.get(path, { token });
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'not-found']);
    }
  });

  it('the application names the location at which a body stops being JSON, and where to get an access token', async () => {
    const answer = await client.call('POST', '/v1/notes', {
      token,
      headers: { 'Content-Type': 'application/json' },
      rawBody: '{"text":"a",}',
    });
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      'The body is not valid JSON at line 1, column 13: a member name is expected.',
    ]);
    expect((await client.post('/v1/notes', { body: {} })).body.detail).toContain('POST /v1/tokens');
  });

  it('the application returns 405 with Allow for a known path with another method, and OPTIONS with Allow', async () => {
    const refused = await client.call('DELETE', '/v1/notes');
    expect([refused.status, refused.body.code, refused.headers.allow]).toEqual([
      405,
      'method-not-allowed',
      'POST, GET, HEAD, OPTIONS',
    ]);
    const options = await client.call('OPTIONS', '/v1/notes');
    expect([options.status, options.headers.allow]).toEqual([204, 'POST, GET, HEAD, OPTIONS']);
  });

  it('HEAD returns the headers of a GET without a body', async () => {
    const head = await client.call('HEAD', '/v1/notes');
    const get = await client.get('/v1/notes');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', get.headers['content-length']]);
  });

  it('the application announces a deprecated operation', async () => {
    const { headers } = await client.get('/v1/notes');
    expect(headers.deprecation).toBe('@1767225600');
    expect(headers.sunset).toBe('Fri, 01 Jan 2027 00:00:00 GMT');
    expect(headers.link).toBe('</docs/notes>; rel="deprecation"; type="text/html"');
  });

  it('the application announces a deprecation beside a link to the next page, and with an error response', async () => {
    const deprecation = '</docs/notes>; rel="deprecation"; type="text/html"';
    expect((await client.get('/v1/notes?limit=1')).headers.link).toBe(`${nextPage}, ${deprecation}`);
    const { status, headers } = await client.get('/v1/notes?limit=0');
    expect([status, headers.deprecation, headers.link]).toEqual([400, '@1767225600', deprecation]);
  });

  it('the application announces a deprecated parameter in responses to requests with this parameter', async () => {
    const get = async (query: string, given: Record<string, string> = {}) => {
      const { headers } = await client.get(`/v1/notes/${newId()}${query}`, { token, headers: given });
      return [headers.deprecation, headers.sunset, headers.link];
    };
    expect(await get('')).toEqual([undefined, undefined, undefined]);
    expect(await get('?full=true')).toEqual(['@1769904000', undefined, undefined]);
    const old = ['Mon, 01 Mar 2027 00:00:00 GMT', '</docs/old>; rel="deprecation"; type="text/html"'];
    expect(await get('', { 'X-Old': 'a' })).toEqual(['@1772323200', ...old]);
    expect(await get('?full=true', { 'X-Old': 'a' })).toEqual(['@1769904000', ...old]);
  });

  it.each([
    'text/html',
    'application/json;q=0',
    'application/json;q=0, text/html',
    'application/json-patch+json',
    '*/*;q=0',
  ])('the application returns 406 for Accept: %s', async (accept) => {
    expect((await client.get('/v1/notes', { headers: { Accept: accept } })).body.code).toBe('not-acceptable');
  });

  it.each([
    'text/html, application/*;q=0.5',
    'application/json, text/plain, */*',
    'application/json;charset=utf-8',
    'APPLICATION/JSON',
  ])('the application accepts Accept: %s', async (accept) => {
    expect((await client.get('/v1/notes', { headers: { Accept: accept } })).status).toBe(200);
  });

  it.each(['{}', '{"a":1}', 'no JSON at all'])(
    'the application rejects a body for an operation without one: %s',
    async (rawBody) => {
      const before = effects;
      const refused = await client.post(`/v1/notes/${newId()}/pin`, { rawBody });
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '', detail: 'must be absent' }] } });
      expect(effects).toBe(before);
    },
  );

  it('the application accepts a missing and an empty body', async () => {
    const path = `/v1/notes/${newId()}/pin`;
    expect((await client.post(path)).status).toBe(204);
    const { port } = server.address() as AddressInfo;
    const chunked = new ReadableStream({ start: (controller) => controller.close() });
    const request = { method: 'POST', body: chunked, duplex: 'half' };
    expect((await fetch(`http://127.0.0.1:${port}${path}`, request as RequestInit)).status).toBe(204);
  });
});

describe('parameters', () => {
  it('the application passes declared parameters with their types', async () => {
    await client.get('/v1/notes?limit=7&tag=a+z&tag=b%2Cc+d');
    expect(seen?.query).toEqual({ limit: 7, tag: ['a z', 'b,c d'] });
  });

  it('the application lists a hundred faults, and reports that there are more', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => index.toString(36));
    const { body } = await client.get(`/v1/notes?${names.join('&')}`);
    expect(body.errors).toHaveLength(100);
    expect(body.detail).toMatch(/\(and at least 99 more\)\.$/);
    expect((await client.get(`/v1/notes?${names.map(() => '%').join('&')}`)).body.errors).toHaveLength(100);
    expect((await post({ text: 'a', tags: names.map(() => 1) })).body.errors).toHaveLength(100);
  });

  it('the application reports all faults together', async () => {
    const answer = await client.get('/v1/notes?limit=1e2&page=2&offset=3&limit2=');
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([
      { parameter: 'limit', detail: 'must be integer' },
      { parameter: 'page', detail: 'is not a known parameter; known are limit, tag' },
      { parameter: 'offset', detail: 'is not a known parameter; known are limit, tag' },
      { parameter: 'limit2', detail: 'is not a known parameter; did you mean limit? known are limit, tag' },
    ]);
    const unreadable = await client.get('/v1/notes?tag=%ff&tag=%00&page=2&limit=0');
    expect(unreadable.body.errors.map(({ parameter }) => parameter)).toEqual(['tag', 'tag', 'limit', 'page']);
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=1&limit=2',
    'limit=',
    'limit=%',
    'tag=%ff',
    'tag=%00',
    'tag=%ed%a0%80',
    'limit=1.5',
    'limit=02',
    'limit=-02',
  ])('the application rejects ?%s', async (query) => {
    const answer = await client.get(`/v1/notes?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid-request']);
    expect(answer.body.errors[0]?.parameter).toBe(query.split('=')[0]);
  });
});

describe('bodies', () => {
  it('the application passes text in normalization form C', async () => {
    const answer = await post({ text: 'Cafe\u0301' });
    expect([answer.status, answer.body.body]).toEqual([201, { text: 'Café' }]);
  });

  it('the application counts lengths in code points', async () => {
    expect((await post({ text: '😀'.repeat(10) })).status).toBe(201);
    expect((await post({ text: '😀'.repeat(11) })).status).toBe(400);
  });

  it('the application reports a misspelt member as one fault, and not also as a missing one', async () => {
    const { detail, errors } = (await post({ Text: 'a' })).body;
    expect(detail).toBe('/Text is not a known member; did you mean text?');
    expect(errors).toEqual([{ pointer: '/Text', detail: 'is not a known member; did you mean text?' }]);
  });

  it('the application reports all faults together, each with its pointer', async () => {
    const answer = await post({ text: '', rank: 'high', 'a/b~c': 1 });
    expect(answer.body.errors).toEqual([
      { pointer: '/a~1b~0c', detail: 'is not a known member' },
      { pointer: '/text', detail: 'must not have fewer than 1 character' },
      { pointer: '/rank', detail: 'must be number' },
    ]);
  });

  const bad: [string, string, string][] = [
    ['a missing member', '{}', '/text'],
    ['no JSON', '{"text":', ''],
    ['an array', '[]', ''],
    ['null', 'null', ''],
    ['NUL', '{"text":"a\\u0000"}', '/text'],
    ['a lone surrogate', '{"text":"\\ud800"}', '/text'],
    ['NUL in a member name', '{"text":"a","\\u0000":1}', '/\u0000'],
    ['__proto__', '{"text":"a","__proto__":{"x":1}}', '/__proto__'],
    ['constructor', '{"text":"a","constructor":1}', '/constructor'],
    ['a number past all bounds', '{"text":"a","rank":1e400}', '/rank'],
    ['a number that would be rounded', '{"text":"a","rank":19.990000000000000001}', '/rank'],
    ['a member given twice', '{"text":"a","rank":1,"rank":2}', '/rank'],
    ['deep nesting', `{"text":"a","tags":${'['.repeat(40)}${']'.repeat(40)}}`, `/tags${'/0'.repeat(31)}`],
  ];
  it.each(bad)('the application rejects %s', async (_name, rawBody, pointer) => {
    const before = effects;
    const answer = await client.post('/v1/notes', { token, rawBody });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid-request']);
    expect(answer.body.errors.map((fault: { pointer: string }) => fault.pointer)).toContain(pointer);
    expect(effects).toBe(before);
  });

  it('the application rejects bytes that are not UTF-8', async () => {
    const answer = await client.post('/v1/notes', { token, rawBody: new Uint8Array([0x22, 0xff, 0x22]) });
    expect([answer.status, answer.body.errors]).toEqual([400, [{ pointer: '', detail: 'is not valid UTF-8' }]]);
  });

  it('the application rejects an empty body where one is required', async () => {
    expect((await client.post('/v1/notes', { token })).body.errors).toEqual([{ pointer: '', detail: 'is required' }]);
  });

  it.each(['text/plain', 'application/xml', 'application/merge-patch+json', 'application/json; charset=latin1', ''])(
    'the application returns 415 for %p and states the accepted media type',
    async (type) => {
      const answer = await client.post('/v1/notes', {
        token,
        rawBody: '{"text":"a"}',
        headers: { 'Content-Type': type },
      });
      expect([answer.status, answer.body.code, answer.headers['accept-post']]).toEqual([
        415,
        'unsupported-media-type',
        'application/json',
      ]);
    },
  );

  it('the application returns 415 for a content encoding and names the media type and the encoding that are accepted', async () => {
    const headers = { 'Content-Encoding': 'gzip' };
    const answer = await client.post('/v1/notes', { token, rawBody: '{"text":"a"}', headers });
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported-media-type']);
    expect(answer.headers).toMatchObject({ 'accept-post': 'application/json', 'accept-encoding': 'identity' });
  });

  it('the application returns 413 past 100 KiB where the contract has no lower bound', async () => {
    const answer = await post({ text: 'x'.repeat(100 * 1024) });
    expect([answer.status, answer.body.code]).toEqual([413, 'content-too-large']);
    expect(answer.body.detail).toBe('The body is larger than 102400 bytes.');
  });

  it.each([
    ['announced', (text: string) => text],
    ['without a length', (text: string) => new Blob([text]).stream()],
  ])('the application returns 413 past the x-max-bytes of the operation, %s', async (_name, body) => {
    const { port } = server.address() as AddressInfo;
    const send = async (bytes: number): Promise<[number, { detail?: string }]> => {
      const init = {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: body('{}'.padEnd(bytes)),
        duplex: 'half',
      };
      const answer = await fetch(`http://127.0.0.1:${port}/v1/notes/${newId()}/mark`, init as RequestInit);
      return [answer.status, answer.status === 204 ? {} : ((await answer.json()) as { detail: string })];
    };
    expect(await send(64)).toEqual([204, {}]);
    expect(await send(65)).toMatchObject([413, { detail: 'The body is larger than 64 bytes.' }]);
  });

  it.each([
    ['members', `{${Array.from({ length: 1_001 }, (_, index) => `"m${index}":1`).join()}}`],
    ['members', `{${'"m":1,'.repeat(1_000)}"m":1}`],
    ['elements', `{"tags":[${'0,'.repeat(4_000)}0]}`],
  ])('the application rejects too many %s by counting alone', async (part, rawBody) => {
    const answer = await client.post('/v1/notes', { token, rawBody });
    const [most, actual] = part === 'members' ? [1_000, 1_001] : [4_000, 4_001];
    const detail = `must have at most ${most} ${part}; these are ${actual}`;
    expect([answer.status, answer.body.code, answer.body.errors]).toEqual([
      400,
      'invalid-request',
      [{ pointer: '', detail }],
    ]);
  });
});

describe('who calls', () => {
  it('the application returns 401 with a challenge without a token, and for a forged or expired one', async () => {
    const path = `/v1/notes/${newId()}`;
    for (const bearer of [
      undefined,
      await issuer.forge(),
      await issuer.sign({ expiresIn: -60 }),
      await issuer.sign({ audience: 'other' }),
    ]) {
      const answer = await client.get(path, bearer === undefined ? {} : { token: bearer });
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated']);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    }
  });

  it('the application returns 403 naming the scope that is missing', async () => {
    const answer = await client.post('/v1/notes', { token: await issuer.sign(), body: { text: 'a' } });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    expect(answer.headers['www-authenticate']).toContain('scope="notes:write"');
  });
});

describe('request identity', () => {
  it('the application accepts a safe request id and returns it, also as the instance of a problem', async () => {
    const answer = await client.get('/v1/nothing', { headers: { 'X-Request-Id': 'abc-123' } });
    expect([answer.headers['x-request-id'], answer.body.instance]).toEqual(['abc-123', 'abc-123']);
  });

  it('the application generates a request id when the request has no safe one', async () => {
    for (const id of ['', 'a b', 'x'.repeat(129), '<script>']) {
      const made = (await client.get('/v1/notes', { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
      expect(made).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('the application continues the trace of a request, or starts a new one', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    await client.get('/v1/notes', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } });
    expect(seen?.traceparent).toMatch(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
    await client.get('/v1/notes', { headers: { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` } });
    expect(seen?.traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });
});

describe('conditional requests', () => {
  it('the application returns 304 when If-None-Match names the version', async () => {
    const path = `/v1/notes/${newId()}`;
    for (const tag of ['"7"', 'W/"7"', '"6", "7"', '*', '"a,b", "7"', ', "a,,b",,W/"7" ,', '",","7"']) {
      const answer = await client.get(path, { token, headers: { 'If-None-Match': tag } });
      expect([tag, answer.status, answer.text, answer.headers.etag]).toEqual([tag, 304, '', '"7"']);
    }
    expect((await client.get(path, { token, headers: { 'If-None-Match': '"6"' } })).status).toBe(200);
    for (const none of ['7', '"7', '"6""7"', '"6" "7"', ',', '"6", *', 'w/"7"', '"6",7,"8"']) {
      const { status } = await client.get(path, { token, headers: { 'If-None-Match': none } });
      expect([none, status]).toEqual([none, 400]);
    }
  });
});

describe('idempotency', () => {
  it('an operation with an Idempotency-Key returns the first response again, for the same account and key', async () => {
    const key = { 'Idempotency-Key': newId() };
    const first = await post({ text: 'a' }, key);
    const again = await post({ text: 'a' }, key);
    expect(again.body).toEqual(first.body);
    expect([first.headers['idempotency-replayed'], again.headers['idempotency-replayed']]).toEqual([undefined, 'true']);
    const other = await client.post('/v1/notes', {
      token: await issuer.sign({ scopes: ['notes:write'] }),
      body: { text: 'a' },
      headers: key,
    });
    expect(other.body.effect).not.toBe(first.body.effect);
  });

  it('an operation with an Idempotency-Key returns the first response also while the secret of fingerprints is replaced', async () => {
    const key = { 'Idempotency-Key': newId() };
    const statuses: (number | undefined)[] = [];
    for (const secrets of [['a'], ['b', 'a'], ['c', 'b']] as const) {
      idempotencySecrets = secrets;
      statuses.push((await post({ text: 'a' }, key)).status);
    }
    idempotencySecrets = ['only-for-tests'];
    expect(statuses).toEqual([201, 201, 422]);
  });

  it('an operation with an Idempotency-Key returns the first response for a body with its members in another order', async () => {
    const key = { 'Idempotency-Key': newId() };
    const { body } = await post({ text: 'a', rank: 1, tags: ['b', 'a'] }, key);
    const again = await post({ tags: ['b', 'a'], rank: 1.0, text: 'a' }, key);
    expect([again.headers['idempotency-replayed'], again.body]).toEqual(['true', body]);
    expect((await post({ tags: ['a', 'b'], rank: 1, text: 'a' }, key)).status).toBe(422);
  });

  it('an operation with an Idempotency-Key returns a response that a process of the previous release stored, and never that of a row it replaced', async () => {
    const key = { 'Idempotency-Key': newId() };
    const [first, second] = [await post({ text: 'a' }, key), { 'Idempotency-Key': newId() }];
    await database.pool.query('UPDATE idempotency_keys SET canonical_fingerprint = NULL WHERE key = $1', [
      key['Idempotency-Key'],
    ]);
    expect((await post({ text: 'a' }, key)).body).toEqual(first.body);
    await post({ text: 'b' }, second);
    await database.pool.query(
      `UPDATE idempotency_keys AS replaced SET fingerprint = other.fingerprint
       FROM idempotency_keys AS other WHERE replaced.key = $2 AND other.key = $1`,
      [key['Idempotency-Key'], second['Idempotency-Key']],
    );
    expect((await post({ text: 'b' }, second)).status).toBe(422);
    expect((await post({ text: 'a' }, second)).status).toBe(201);
  });

  it('an operation with an Idempotency-Key stores the 100 newest error responses of an account, none that is longer than 16 KiB, and every success', async () => {
    const other = await issuer.sign({ scopes: ['notes:write'] });
    const send = (text: string, key: string) =>
      client.post('/v1/notes', { token: other, body: { text }, headers: { 'Idempotency-Key': key } });
    const prefix = newId();
    await send('a', `${prefix} success`);
    work = async () => {
      throw new Problem('insufficient-stock', 'Not enough.');
    };
    for (let sent = 0; sent < 30; sent += 1) {
      await Promise.all(Array.from({ length: 5 }, (_, index) => send('a', `${prefix} ${sent * 5 + index}`)));
    }
    work = async () => {
      const errors = Array.from({ length: 50 }, (_, index) => ({ pointer: `/${index}`, detail: 'x'.repeat(400) }));
      throw new Problem('insufficient-stock', 'Not enough.', { errors });
    };
    expect((await send('a', `${prefix} long`)).status).toBe(409);
    work = async () => {};
    const { rows } = await database.pool.query(
      `SELECT status, count(*)::int FROM idempotency_keys WHERE key LIKE $1 GROUP BY status ORDER BY status`,
      [`${prefix}%`],
    );
    expect(rows).toEqual([
      { status: 201, count: 1 },
      { status: 409, count: expect.any(Number) },
    ]);
    // Concurrent requests can leave some more.
    expect(rows[1].count).toBeGreaterThanOrEqual(100);
    expect(rows[1].count).toBeLessThan(110);
    // A repetition of the long one is judged again.
    expect((await send('a', `${prefix} long`)).status).toBe(201);
    expect((await send('a', `${prefix} 149`)).headers['idempotency-replayed']).toBe('true');
    expect((await send('a', `${prefix} 0`)).status).toBe(201);
    expect((await send('a', `${prefix} success`)).headers['idempotency-replayed']).toBe('true');
  });

  it('an operation with an Idempotency-Key returns 422 for the same key with another request', async () => {
    const key = { 'Idempotency-Key': newId() };
    await post({ text: 'a' }, key);
    const answer = await post({ text: 'b' }, key);
    expect([answer.status, answer.body.code]).toEqual([422, 'idempotency-key-reused']);
  });

  it('an operation with an Idempotency-Key returns 409 with Retry-After while the first request runs', async () => {
    const key = { 'Idempotency-Key': newId() };
    let release = (): void => {};
    const running = new Promise<void>((started) => {
      work = () =>
        new Promise((resolve) => {
          release = resolve;
          started();
        });
    });
    const first = post({ text: 'a' }, key);
    await running;
    const second = await post({ text: 'a' }, key);
    expect([second.status, second.body.code, second.headers['retry-after']]).toEqual([409, 'request-in-progress', '1']);
    work = async () => {};
    release();
    expect((await first).status).toBe(201);
  });

  it('an operation with an Idempotency-Key stores an error response, with its effects undone', async () => {
    const key = { 'Idempotency-Key': newId() };
    work = async () => {
      throw new Problem('insufficient-stock', 'Not enough.', { errors: [{ pointer: '/text', detail: 'is too much' }] });
    };
    const first = await post({ text: 'a' }, key);
    work = async () => {};
    const again = await post({ text: 'a' }, key);
    expect([again.status, { ...again.body, instance: first.body.instance }, again.headers['content-type']]).toEqual([
      409,
      first.body,
      'application/problem+json',
    ]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it.each(['insufficient-stock', 'product-not-available'] as const)(
    'a repeated %s contains the id of the present request as its instance',
    async (code) => {
      const key = newId();
      work = async () => {
        throw new Problem(code, 'Nothing was ordered.');
      };
      const first = await post({ text: 'a' }, { 'Idempotency-Key': key, 'X-Request-Id': 'the-first' });
      work = async () => {};
      const again = await post({ text: 'a' }, { 'Idempotency-Key': key, 'X-Request-Id': 'the-second' });
      expect([first.body.instance, first.headers['x-request-id']]).toEqual(['the-first', 'the-first']);
      expect([again.body.instance, again.headers['x-request-id']]).toEqual(['the-second', 'the-second']);
      expect(again.body).toEqual({ ...first.body, instance: 'the-second' });
    },
  );

  it('an operation with an Idempotency-Key does not store a failure', async () => {
    const key = { 'Idempotency-Key': newId() };
    work = async () => {
      throw new Error('a secret of the inside');
    };
    const first = await post({ text: 'a' }, key);
    expect([first.status, first.body.code]).toEqual([500, 'internal-error']);
    expect(first.text).not.toContain('secret');
    work = async () => {};
    expect((await post({ text: 'a' }, key)).status).toBe(201);
  });
});

describe('a result in pieces', () => {
  const list = () => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/notes`);

  afterEach(() => {
    pieces = undefined;
  });

  it('a result in pieces is one JSON text without a length', async () => {
    pieces = async function* () {
      yield '{"a":';
      yield '1}';
    };
    const { status, headers, body } = await client.get('/v1/notes');
    expect([status, headers['content-type'], headers['content-length'], body]).toEqual([
      200,
      'application/json',
      undefined,
      { a: 1 },
    ]);
  });

  it('a HEAD request reads no piece of a result', async () => {
    let taken = 0;
    pieces = async function* () {
      taken += 1;
      yield '{}';
    };
    const { status, text } = await client.call('HEAD', '/v1/notes');
    expect([status, text, taken]).toEqual([200, '', 0]);
  });

  it.each([
    ['a problem', new Problem('service-unavailable', 'Gone.'), 'service-unavailable'],
    ['an unexpected error', new Error('broken'), 'internal-error'],
  ])('a result in pieces is aborted and logged by %s after the first piece', async (_, failure, message) => {
    pieces = async function* () {
      yield '{"a":1';
      // Without this pause, the client might see the end before the beginning.
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw failure;
    };
    const answer = await list();
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
    await eventually(() => expect(lines.at(-1)).toMatchObject({ msg: message }));
  });

  it('a result in pieces waits for a client that does not read, and ends when it leaves', async () => {
    let taken = 0;
    let ended = false;
    pieces = async function* () {
      try {
        for (;;) {
          taken += 1;
          yield 'x'.repeat(100_000);
        }
      } finally {
        ended = true;
      }
    };
    const logged = lines.length;
    const answer = await list();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = taken;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([taken, ended]).toEqual([before, false]);
    await answer.body?.cancel();
    await eventually(() => expect(ended).toBe(true));
    expect(lines).toHaveLength(logged);
  });
});

describe('an unavailable database', () => {
  it('an unavailable database returns 503 with Retry-After and recovers', async () => {
    const { rows } = await database.pool.query<{ name: string }>('SELECT current_database() AS name');
    const name = rows[0]?.name ?? '';
    work = async () => {
      await database.pool.query("DO $$ BEGIN RAISE EXCEPTION 'shutting down' USING ERRCODE = '57P01'; END $$");
    };
    const answer = await post({ text: 'a' });
    work = async () => {};
    expect([name, answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([
      name,
      503,
      'service-unavailable',
      '1',
    ]);
    expect((await post({ text: 'a' })).status).toBe(201);
  });
});

describe('the log', () => {
  const failing = async (error: Error) => {
    lines.length = 0;
    work = () => Promise.reject(error);
    const { status, headers } = await post({ text: 'hello' });
    work = async () => {};
    return { status, requestId: headers['x-request-id'] };
  };

  it('a log line states why a dependency is unavailable', async () => {
    const cause = new Error('catalogue answered 503');
    const { status, requestId } = await failing(new Problem('service-unavailable', 'Try again.', { cause }));
    expect(status).toBe(503);
    const url = '/v1/notes';
    const reason = 'Try again. (catalogue answered 503)';
    expect(lines).toEqual([expect.objectContaining({ level: 40, msg: 'service-unavailable', reason, requestId, url })]);
    expect(JSON.stringify(lines)).not.toContain('stack');
  });

  it('the log does not log the query of a failed request', async () => {
    lines.length = 0;
    work = () => Promise.reject(new Problem('service-unavailable', 'Try again.'));
    const { status } = await client.get('/v1/notes?tag=kim%40example.com', { token });
    work = async () => {};
    expect([status, lines.map(({ url }) => url)]).toEqual([503, ['/v1/notes']]);
  });

  it('the log logs the stack of an unexpected error', async () => {
    const { status, requestId } = await failing(new TypeError('a mistake of ours'));
    expect(status).toBe(500);
    expect(lines).toEqual([expect.objectContaining({ level: 50, msg: 'internal-error', requestId })]);
    expect(lines[0]?.err).toMatchObject({ message: 'a mistake of ours', stack: expect.any(String) });
  });

  it('a client error writes no log line', async () => {
    lines.length = 0;
    expect((await client.get('/nothing')).status).toBe(404);
    expect(lines).toEqual([]);
  });
});
