// GET /v1/accounts/{accountId}
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  freshEmail,
  type Holder,
  password,
  register,
  startAccounts,
  type TestAccounts,
  versionOf,
} from './accounts.ts';

let accounts: TestAccounts;
let holder: Holder;
let other: Holder;

beforeAll(async () => {
  accounts = await startAccounts();
  holder = await register(accounts, { phone_number: '+33 4 72 00', shipping_address: { city: 'Lyon' } });
  other = await register(accounts);
});

afterAll(() => accounts.services.stop());

const get = (path: string, token?: string, headers: Record<string, string> = {}) =>
  accounts.client.get(path, { ...(token === undefined ? {} : { token }), headers });

describe('200', () => {
  it('GET /v1/accounts/{accountId} returns the account under its id and under me', async () => {
    const answer = await get(holder.path, holder.token);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: holder.id,
      email: holder.email,
      email_verified: false,
      name: 'Kim Park',
      phone_number: '+33 4 72 00',
      shipping_address: { city: 'Lyon' },
    });
    const me = await get('/v1/accounts/me', holder.token);
    expect(me.text).toBe(answer.text);
    expect(me.headers.etag).toBe(answer.headers.etag);
  });

  it('GET /v1/accounts/{accountId} reads the id in the path in capital letters, too', async () => {
    const answer = await get(`/v1/accounts/${holder.id.toUpperCase()}`, holder.token);
    expect([answer.status, answer.body.id]).toEqual([200, holder.id]);
  });

  it('the response contains the members of the address in one order, whatever order the client sent', async () => {
    const address = { country: 'CH', city: 'Basel', street_address: 'Lindenweg 4' };
    const { client } = accounts;
    const body = { email: freshEmail(), name: 'Kim', password };
    const registered = await client.post('/v1/accounts', { body: { ...body, shipping_address: address } });
    const token = await accounts.services.issuer.sign({ accountId: registered.body.id });
    expect(registered.text).toContain('{"street_address":"Lindenweg 4","city":"Basel","country":"CH"}');
    expect((await get('/v1/accounts/me', token)).text).toBe(registered.text);
  });

  it('a response with an account may not be stored by any cache', async () => {
    const { headers } = await get(holder.path, holder.token);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.vary).toBe('Authorization');
  });

  it('HEAD returns the headers of GET /v1/accounts/{accountId} without a body', async () => {
    const answer = await accounts.client.call('HEAD', holder.path, { token: holder.token });
    expect(answer.status).toBe(200);
    expect(versionOf(answer)).toBe(1);
    expect(answer.text).toBe('');
  });

  it('GET /v1/accounts/{accountId} returns the whole account when If-None-Match names another version', async () => {
    expect((await get(holder.path, holder.token, { 'If-None-Match': '"7"' })).status).toBe(200);
  });

  it('GET /v1/accounts/{accountId} returns the whole account when a browser still has that of another caller', async () => {
    const former = await get('/v1/accounts/me', other.token);
    const answer = await get('/v1/accounts/me', holder.token, { 'If-None-Match': former.headers.etag ?? '' });
    expect(versionOf(former)).toBe(versionOf(answer));
    expect([answer.status, answer.body.id]).toEqual([200, holder.id]);
  });
});

describe('304', () => {
  it.each([
    ['its tag', (tag: string) => tag],
    ['its tag as a weak one', (tag: string) => `W/${tag}`],
    ['its tag among others', (tag: string) => `"7", ${tag}`],
    ['*', () => '*'],
  ])('GET /v1/accounts/{accountId} returns 304 for If-None-Match with %s', async (_, tags) => {
    const { etag = '' } = (await get(holder.path, holder.token)).headers;
    const answer = await get(holder.path, holder.token, { 'If-None-Match': tags(etag) });
    expect([answer.status, answer.headers.etag, answer.text]).toEqual([304, etag, '']);
  });
});

describe('400', () => {
  it('GET /v1/accounts/{accountId} returns 400 for a parameter', async () => {
    const answer = await get(`${holder.path}?fields=email`, holder.token);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]?.parameter).toBe('fields');
  });

  it('GET /v1/accounts/{accountId} returns 400 for an If-None-Match that is not a list of tags', async () => {
    expect((await get(holder.path, holder.token, { 'If-None-Match': '1' })).status).toBe(400);
  });
});

describe('401', () => {
  it('GET /v1/accounts/{accountId} returns 401 for a request without a token', async () => {
    const answer = await get(holder.path);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="shop"');
  });

  it.each([
    ['an expired token', { expiresIn: -60 }],
    ['a token of another issuer', { issuer: 'https://elsewhere.test' }],
    ['a token for another audience', { audience: 'elsewhere' }],
    ['a token of another type', { type: 'JWT' }],
  ])('GET /v1/accounts/{accountId} returns 401 for %s', async (_, claims) => {
    const token = await accounts.services.issuer.sign({ accountId: holder.id, ...claims });
    const answer = await get(holder.path, token);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('GET /v1/accounts/{accountId} returns 401 for a forged token, and does not reveal the account', async () => {
    const token = await accounts.services.issuer.forge({ accountId: holder.id });
    expect((await get(holder.path, token)).status).toBe(401);
    expect((await get(other.path, token)).status).toBe(401);
  });
});

describe('403', () => {
  it('GET /v1/accounts/{accountId} returns the same 403 for an account that exists and for one that does not', async () => {
    const instance = { 'X-Request-Id': 'the-same' };
    const foreign = await get(other.path, holder.token, instance);
    const absent = await get('/v1/accounts/0198c0de-0000-7000-8000-000000000000', holder.token, instance);
    expect(foreign.status).toBe(403);
    expect(foreign.body.code).toBe('forbidden');
    expect(absent.text).toBe(foreign.text);
    expect({ ...absent.headers, date: '' }).toEqual({ ...foreign.headers, date: '' });
  });

  it('GET /v1/accounts/{accountId} of another account returns 403 with every scope, too', async () => {
    const scopes = ['catalogue:write', 'orders:fulfil', 'orders:read-all'];
    const token = await accounts.services.issuer.sign({ accountId: holder.id, scopes });
    expect((await get(other.path, token)).status).toBe(403);
  });
});

describe('404', () => {
  it.each([
    '1',
    'ME',
    'me%00',
    '0198c0de-0000-7000-8000-00000000000g',
    '0198c0de00007000800000000000000',
    'null',
    '..%2fme',
  ])('GET /v1/accounts/{accountId} returns 404 for the account %s', async (id) => {
    const answer = await get(`/v1/accounts/${id}`, holder.token);
    expect(answer.status).toBe(404);
    expect(answer.body.code).toBe('not-found');
  });

  it('GET /v1/accounts/{accountId} returns 404 for a token of an external provider without an account', async () => {
    const token = await accounts.services.issuer.sign({ accountId: '0198c0de-0000-7000-8000-000000000000' });
    expect((await get('/v1/accounts/me', token)).status).toBe(404);
  });
});

describe('405', () => {
  it('an unsupported method of /v1/accounts/{accountId} returns 405 with the permitted methods', async () => {
    const answer = await accounts.client.call('DELETE', holder.path, { token: holder.token });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('PATCH, GET, HEAD, OPTIONS');
  });
});
