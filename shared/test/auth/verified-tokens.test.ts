// The cache of verified tokens. One token is one entry, however its header is written.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { createTokenVerifier, type TokenVerifier } from '../../src/auth/index.ts';
import { createLog, newId } from '../../src/runtime/index.ts';
import { audience, Issuer, issuer, keyPair, token } from './issuer.ts';

const pair = keyPair('one');
const keySet = new Issuer();
let tokens: TokenVerifier;

beforeAll(async () => {
  keySet.published = { keys: [pair.jwk] };
  await keySet.listen();
  tokens = createTokenVerifier({ jwksUrl: keySet.url, issuer, audience, log: createLog('test', 'silent') });
});
afterAll(async () => {
  await tokens.close();
  await keySet.close();
});

describe('a verified token', () => {
  it.each(['Bearer ', 'bearer ', 'BEARER ', 'bEaReR   ', `Bearer${' '.repeat(8)}`])(
    'a verified token is cached, and not verified again, when the header begins with "%s"',
    async (scheme) => {
      const signed = await token(pair);
      const caller = await tokens.verify(`Bearer ${signed}`);
      expect(caller).toBeDefined();
      // A token that was verified again gives another object.
      expect(await tokens.verify(`${scheme}${signed}`)).toBe(caller);
      expect(await tokens.verify(`Bearer ${signed}`)).toBe(caller);
    },
  );

  it('a verified token is dropped from the cache after 10,000 others, and not before', async () => {
    const first = `Bearer ${await token(pair)}`;
    const caller = await tokens.verify(first);
    const others = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += 1) await tokens.verify(`Bearer ${await token(pair)}`);
    };
    await others(9_999);
    expect(await tokens.verify(first)).toBe(caller);
    await others(1);
    expect(await tokens.verify(first)).toEqual(caller);
    expect(await tokens.verify(first)).not.toBe(caller);
  });

  it.each(['application/at+jwt', 'AT+JWT', 'Application/AT+JWT'])(
    'a verified token may have the type %s',
    async (typ) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { sub: newId(), accountId: newId(), iat: now, exp: now + 60, jti: newId() };
      const signed = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'one', typ })
        .setIssuer(issuer)
        .setAudience(audience)
        .sign(pair.privateKey);
      expect(await tokens.verify(`Bearer ${signed}`)).toMatchObject({ accountId: claims.accountId });
    },
  );

  it.each([
    ['Basic a2ltOnNlY3JldA==', 'Bearer realm="shop"'],
    ['DPoP x', 'Bearer realm="shop"'],
    [
      'Bearer',
      'Bearer realm="shop", error="invalid_token", error_description="The Authorization header holds no bearer token."',
    ],
    ['bearer x', 'Bearer realm="shop", error="invalid_token", error_description="The access token is not valid."'],
  ])('a header with %s has no token, and only a bearer token is an error', async (authorization, challenge) => {
    await expect(tokens.verify(authorization)).rejects.toMatchObject({ headers: { 'WWW-Authenticate': challenge } });
  });

  it('the cache of tokens does not accept a spelling of any length', async () => {
    const signed = await token(pair);
    await tokens.verify(`Bearer ${signed}`);
    await expect(tokens.verify(`Bearer${' '.repeat(9)}${signed}`)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(tokens.verify(`Bearer ${signed} `)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});
