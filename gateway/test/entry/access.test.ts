// Public, optional and required authentication, and scopes: checked by the contract before the service is asked.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const challenge = (answer: { headers: Readonly<Record<string, string>> }) => answer.headers['www-authenticate'];

describe('a public operation', () => {
  it('a public operation ignores an invalid token', async () => {
    expect(await gateway.client.post('/v1/products/search', { token: 'x.y.z', body: {} })).toMatchObject({
      status: 200,
    });
  });
});

describe('an optional operation', () => {
  it('an optional operation admits every request, and leaves the token to the service', async () => {
    const { issuer, client, service } = gateway;
    for (const token of [await issuer.sign(), await issuer.sign({ expiresIn: -60 }), await issuer.forge(), 'x.y.z']) {
      expect(await client.get('/v1/products', { token })).toMatchObject({ status: 200 });
      expect(service.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
    }
    expect(await client.get('/v1/products')).toMatchObject({ status: 200 });
    expect(service.seen.at(-1)?.headers.authorization).toBeUndefined();
  });
});

describe('a required operation', () => {
  it('a required operation returns 401 without a token, with a challenge without parameters', async () => {
    const answer = await gateway.client.get('/v1/orders');
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(challenge(answer)).toBe('Bearer realm="shop"');
  });
  it('a required operation returns 401 to an expired token, and names the reason', async () => {
    const answer = await gateway.client.get('/v1/orders', { token: await gateway.issuer.sign({ expiresIn: -60 }) });
    expect(answer).toMatchObject({ status: 401 });
    expect(challenge(answer)).toContain('error="invalid_token", error_description="The access token has expired."');
  });
  it('a required operation forwards the token, so that the service can verify it again', async () => {
    const token = await gateway.issuer.sign();
    await gateway.client.get('/v1/orders', { token });
    expect(gateway.service.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
  });
  it('a required operation needs a token for HEAD as for GET, and none for OPTIONS', async () => {
    expect(await gateway.client.call('HEAD', '/v1/orders')).toMatchObject({ status: 401 });
    expect(await gateway.client.call('OPTIONS', '/v1/orders')).toMatchObject({ status: 200 });
  });
});

describe('an operation with a scope', () => {
  it('an operation with a scope returns 403 without the scope, and names it', async () => {
    const answer = await gateway.client.post('/v1/products', {
      token: await gateway.issuer.sign({ scopes: ['orders:fulfil'] }),
      body: {},
    });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(challenge(answer)).toBe('Bearer realm="shop", error="insufficient_scope", scope="catalogue:write"');
  });
  it('an operation with a scope returns 200 with the scope', async () => {
    const token = await gateway.issuer.sign({ scopes: ['orders:fulfil', 'catalogue:write'] });
    expect(await gateway.client.post('/v1/products', { token, body: {} })).toMatchObject({ status: 200 });
  });
});

describe('without a key set', () => {
  it('a gateway without a key set returns 503 with Retry-After until the key set was loaded, and serves public operations', async () => {
    const alone = await startGateway({ JWKS_URL: 'http://127.0.0.1:9/' });
    try {
      const answer = await alone.client.get('/v1/orders', { token: await alone.issuer.sign() });
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        body: { code: 'service-unavailable' },
      });
      expect(await alone.client.post('/v1/products/search', { body: {} })).toMatchObject({ status: 200 });
    } finally {
      await alone.stop();
    }
  });
});
