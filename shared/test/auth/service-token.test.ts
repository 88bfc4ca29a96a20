// Calls from one service to another: who may make them, and for whom.
import { describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { createServiceTokens } from '../../src/auth/index.ts';

const secret = 'only-for-tests-only-for-tests-only-for-tests';
const orders = createServiceTokens({ secret, name: 'orders' });
const catalogue = createServiceTokens({ secret, name: 'catalogue' });
const refused = { code: 'unauthenticated', status: 401 };

async function token(header: object, claims: object, key = secret): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const body = { iss: 'orders', aud: 'catalogue', iat: now, exp: now + 60, jti: 'j', ...claims };
  const signer = new SignJWT(body).setProtectedHeader({ alg: 'HS256', typ: 'internal+jwt', ...header });
  return `Bearer ${await signer.sign(new TextEncoder().encode(key))}`;
}

describe('a service token', () => {
  it('names its service to the audience that it was made for', async () => {
    expect(await catalogue.verify(await orders.sign('catalogue'), 'catalogue')).toBe('orders');
  });
  it('is refused by any other audience', async () => {
    await expect(catalogue.verify(await orders.sign('accounts'), 'catalogue')).rejects.toMatchObject(refused);
  });
  it('is reused for half a minute', async () => {
    expect(await orders.sign('catalogue')).toBe(await orders.sign('catalogue'));
  });
  it.each([
    ['another secret', {}, {}, 'x'.repeat(40)],
    ['another type', { typ: 'at+jwt' }, {}, secret],
    ['another algorithm', { alg: 'HS512' }, {}, secret],
    ['an expired one', {}, { iat: 1, exp: 2 }, secret],
    ['one that lives too long', {}, { iat: Math.floor(Date.now() / 1000) - 120, exp: 4_000_000_000 }, secret],
    ['no issuer', {}, { iss: undefined }, secret],
  ])('is refused with %s', async (_name, header, claims, key) => {
    await expect(catalogue.verify(await token(header, claims, key), 'catalogue')).rejects.toMatchObject(refused);
  });
  it.each([undefined, '', 'Bearer', 'Bearer x.y.z', 'Basic eDp5'])('is not %s', async (authorization) => {
    await expect(catalogue.verify(authorization, 'catalogue')).rejects.toMatchObject(refused);
  });
  it('needs a secret of 32 bytes', () => {
    expect(() => createServiceTokens({ secret: 'short', name: 'orders' })).toThrow('32 bytes');
  });
});
