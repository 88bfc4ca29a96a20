// Compares docs/identity-provider.md with the code that verifies the tokens of another issuer.
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { createTokenVerifier, type TokenVerifier } from '../../src/auth/index.ts';
import { createLog } from '../../src/runtime/index.ts';
import { Issuer, keyPair } from './issuer.ts';

const guide = readFileSync(new URL('../../../docs/identity-provider.md', import.meta.url), 'utf8');
const [header, claims] = [...guide.matchAll(/```json\n(.+?)```/gs)].map(([, json = '']): unknown =>
  JSON.parse(json),
) as [JWTHeaderParameters, JWTPayload & { scope: string }];
const setting = (name: string): string => new RegExp(`\`${name}=([^\`]+)\``).exec(guide)?.[1] ?? '';
const pair = keyPair(String(header.kid), 'rsa');

let keySet: Issuer;
let tokens: TokenVerifier | undefined;
beforeEach(async () => {
  keySet = new Issuer();
  keySet.published = { keys: [pair.jwk] };
  await keySet.listen();
});
afterEach(async () => {
  await tokens?.close();
  await keySet.close();
});

/** Returns the caller of the guide's token. Some of its members are changed, or removed if undefined. */
async function requireCaller(changedHeader: object = {}, changedClaims: object = {}) {
  const now = Math.floor(Date.now() / 1000);
  const payload = JSON.parse(JSON.stringify({ ...claims, iat: now, exp: now + 900, ...changedClaims })) as JWTPayload;
  const token = await new SignJWT(payload).setProtectedHeader({ ...header, ...changedHeader }).sign(pair.privateKey);
  tokens = createTokenVerifier({
    jwksUrl: keySet.url,
    issuer: setting('JWT_ISSUER'),
    audience: setting('JWT_AUDIENCE'),
    algorithm: setting('JWT_ALGORITHM') as 'RS256',
    log: createLog('test', 'silent'),
  });
  return tokens.verify(`Bearer ${token}`);
}

describe('the guide for another identity provider', () => {
  it('the guide for another identity provider shows a token that passes', async () => {
    const { accountId, scope } = claims;
    expect(await requireCaller()).toStrictEqual({
      accountId,
      scopes: new Set(scope.split(' ')),
      credentialsVersion: undefined,
      emailVerified: false,
      issuedAt: expect.any(Number),
      authTime: undefined,
      isMachine: false,
      sessionId: undefined,
    });
  });

  it.each([
    ['another type', { typ: 'JWT' }, {}],
    ['no type', { typ: undefined }, {}],
    ['a further member in its header', { x5t: 'c2hvcA' }, {}],
    ['no audience', {}, { aud: undefined }],
    ['the client for its audience', {}, { aud: 'client-1' }],
    ['an issuer without its slash', {}, { iss: 'https://id.example' }],
    ['no account', {}, { accountId: undefined }],
    ['an account in upper case', {}, { accountId: String(claims.accountId).toUpperCase() }],
    ['no id', {}, { jti: undefined }],
    ['a text for auth_time', {}, { auth_time: '1795302000' }],
    ['a text for email_verified', {}, { email_verified: 'true' }],
    ['a number for sid', {}, { sid: 7 }],
    ['a subject that is too long', {}, { sub: 'x'.repeat(256) }],
    ['a time to come', {}, { nbf: Math.floor(Date.now() / 1000) + 600 }],
  ])(
    'the guide for another identity provider states correctly that a token with %s is rejected',
    async (_name, changedHeader, changedClaims) => {
      await expect(requireCaller(changedHeader, changedClaims)).rejects.toMatchObject({ code: 'unauthenticated' });
    },
  );

  it('the guide for another identity provider states correctly that scopes in a list are ignored', async () => {
    expect(await requireCaller({}, { scope: undefined, scp: ['orders:fulfil'] })).toMatchObject({ scopes: new Set() });
  });

  it('the guide for another identity provider states correctly that a key for encryption makes the set invalid', async () => {
    keySet.published = { keys: [pair.jwk, { ...keyPair('other', 'rsa').jwk, use: 'enc' }] };
    await expect(requireCaller()).rejects.toMatchObject({ code: 'service-unavailable' });
  });
});
