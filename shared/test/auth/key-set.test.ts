// The present key set: rotation, revocation, outages, and invalid sets.
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTokenVerifier, type TokenVerifier } from '../../src/auth/index.ts';
import { freePorts } from '../../src/embedded/index.ts';
import { createLog } from '../../src/runtime/index.ts';
import { eventually } from '../../src/testing/eventually.ts';
import { audience, Issuer, issuer, type KeyPair, keyPair, token } from './issuer.ts';

const log = createLog('test', 'silent');
const old = keyPair('old');
const next = keyPair('next');
let keySet: Issuer;
const verifiers: TokenVerifier[] = [];

beforeEach(async () => {
  keySet = new Issuer();
  keySet.published = { keys: [old.jwk] };
  await keySet.listen(...(await freePorts(1)));
});
afterEach(async () => {
  await Promise.all(verifiers.splice(0).map((verifier) => verifier.close()));
  await keySet.close();
});

function verifier(algorithm?: 'EdDSA' | 'RS256' | 'PS256'): TokenVerifier {
  const options = { jwksUrl: keySet.url, issuer, audience, log };
  const made = createTokenVerifier(algorithm === undefined ? options : { ...options, algorithm });
  verifiers.push(made);
  return made;
}

const header = async (pair: KeyPair, options?: Parameters<typeof token>[1]) => `Bearer ${await token(pair, options)}`;
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'passed',
    (problem) => problem.code,
  );

describe('a key', () => {
  it('a key that is revoked is rejected within 2 s, for tokens that were already verified too', async () => {
    const tokens = verifier();
    const known = await header(old);
    expect(await tokens.verify(known)).toMatchObject({ scopes: new Set(['orders:fulfil', 'catalogue:write']) });
    keySet.published = { keys: [next.jwk] };
    const revokedAt = performance.now();
    await eventually(async () => expect(await refusal(tokens.verify(known))).toBe('unauthenticated'));
    expect(performance.now() - revokedAt).toBeLessThan(2_000);
    expect(await refusal(tokens.verify(await header(old)))).toBe('unauthenticated');
  });

  it('a key that replaces another key with the same id invalidates the tokens of that key', async () => {
    const tokens = verifier();
    const known = await header(old);
    await tokens.verify(known);
    keySet.published = { keys: [{ ...next.jwk, kid: 'old' }] };
    await eventually(async () => expect(await refusal(tokens.verify(known))).toBe('unauthenticated'));
  });

  it('a key that appears in a rotation is accepted immediately, and the old one until it is removed', async () => {
    const tokens = verifier();
    await tokens.verify(await header(old));
    keySet.published = { keys: [next.jwk, old.jwk] };
    expect(await tokens.verify(await header(next))).toBeDefined();
    expect(await tokens.verify(await header(old))).toBeDefined();
  });
});

describe('the address', () => {
  it('the issuer is called once more for an unknown id, and then not for 30 s, however many tokens have it', async () => {
    const tokens = verifier();
    await tokens.verify(await header(old));
    const begun = performance.now();
    const before = keySet.questions.length;
    for (let count = 0; count < 50; count += 1) {
      expect(
        await refusal(tokens.verify(await header({ ...next, jwk: { ...next.jwk, kid: `unknown-${count}` } }))),
      ).toBe('unauthenticated');
    }
    const rounds = Math.ceil((performance.now() - begun) / 1_000);
    expect(keySet.questions.length - before).toBeLessThanOrEqual(rounds + 1);
  });

  it('the issuer is called with a condition, so that an unchanged set is not sent again', async () => {
    await verifier().verify(await header(old));
    await eventually(() => expect(keySet.questions.slice(1)).toContainEqual(expect.stringMatching(/^".+"$/)));
  });

  it('the issuer may be unavailable for a while: loaded keys stay valid', async () => {
    const tokens = verifier();
    await tokens.verify(await header(old));
    const port = Number(new URL(keySet.url).port);
    await keySet.close();
    await setTimeout(1_200);
    expect(await tokens.verify(await header(old))).toBeDefined();
    keySet = new Issuer();
    keySet.published = { keys: [next.jwk] };
    await keySet.listen(port);
    await eventually(async () => expect(await tokens.verify(await header(next))).toBeDefined());
  });

  it('an issuer that never responded makes every token a 503 with Retry-After, not a 401', async () => {
    keySet.status = 500;
    const problem = await verifier()
      .verify(await header(old))
      .catch((error) => error);
    expect(problem).toMatchObject({ code: 'service-unavailable', headers: { 'Retry-After': '1' } });
  });

  it('an issuer that never responded is called once a second, and tokens wait for that', async () => {
    keySet.status = 503;
    const tokens = verifier();
    const unverified = await header(old);
    const begun = performance.now();
    for (let count = 0; count < 4; count += 1) {
      expect(await refusal(tokens.verify(unverified))).toBe('service-unavailable');
    }
    const rounds = Math.ceil((performance.now() - begun) / 1_000);
    expect(keySet.questions.length).toBeLessThanOrEqual(rounds + 1);
    keySet.status = 200;
    expect(await tokens.verify(unverified)).toBeDefined();
  });
});

describe('a key set', () => {
  const pairs = {
    p384: keyPair('a', 'P-384'),
    rsa: keyPair('a', 'rsa'),
    weak: keyPair('a', 'weak-rsa'),
    edwards: keyPair('a', 'ed25519'),
  };
  const bad: Record<string, unknown> = {
    'that is no JSON': '{',
    'without keys': {},
    'whose keys are no list': { keys: old.jwk },
    'with a key of another curve': { keys: [pairs.p384.jwk] },
    'with a key of another kind': { keys: [pairs.rsa.jwk] },
    'with a symmetric key': { keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'a' }] },
    'that mixes kinds': { keys: [old.jwk, pairs.edwards.jwk] },
    'with one id twice': { keys: [old.jwk, { ...next.jwk, kid: 'old' }] },
    'with one key twice': { keys: [old.jwk, { ...old.jwk, kid: 'again' }] },
    'with a key without an id': { keys: [{ ...old.jwk, kid: undefined }] },
    'with an id that is no text': { keys: [{ ...old.jwk, kid: 7 }] },
    'with a private key': { keys: [{ ...old.privateKey.export({ format: 'jwk' }), kid: 'old' }] },
    'with a key for encryption': { keys: [{ ...old.jwk, use: 'enc' }] },
    'with a key for another algorithm': { keys: [{ ...old.jwk, alg: 'ES384' }] },
    'with a key for signing': { keys: [{ ...old.jwk, key_ops: ['sign'] }] },
    'with a point that is not on the curve': { keys: [{ ...old.jwk, y: old.jwk.x }] },
    'with more keys than anybody has': { keys: Array.from({ length: 33 }, (_, index) => keyPair(`k${index}`).jwk) },
    'that is larger than 64 KiB': { keys: [old.jwk], padding: 'x'.repeat(70_000) },
  };
  it.each(Object.keys(bad))('a key set is rejected as a whole %s', async (name) => {
    keySet.published = bad[name];
    expect(await refusal(verifier().verify(await header(old)))).toBe('service-unavailable');
  });

  it('the previous key set stays in use when a new one is rejected', async () => {
    const tokens = verifier();
    await tokens.verify(await header(old));
    keySet.published = { keys: [next.jwk, pairs.rsa.jwk] };
    await setTimeout(1_200);
    expect(await tokens.verify(await header(old))).toBeDefined();
  });

  it('every token is rejected when the key set has no key', async () => {
    keySet.published = { keys: [] };
    expect(await refusal(verifier().verify(await header(old)))).toBe('unauthenticated');
  });

  it('a key set of weak RSA keys is rejected also where RSA is the algorithm', async () => {
    keySet.published = { keys: [pairs.weak.jwk] };
    const token = await header(pairs.rsa, { alg: 'RS256' });
    expect(await refusal(verifier('RS256').verify(token))).toBe('service-unavailable');
  });
});

describe('another issuer, by configuration alone', () => {
  it.each([
    ['RS256', 'rsa'],
    ['PS256', 'rsa'],
    ['EdDSA', 'ed25519'],
  ] as const)('another issuer can sign with %s by configuration alone', async (alg, type) => {
    const pair = keyPair('outside', type);
    keySet.published = { keys: [pair.jwk] };
    expect(await verifier(alg).verify(await header(pair, { alg }))).toMatchObject({ accountId: expect.any(String) });
  });

  it('another issuer cannot sign with another algorithm than the configured one', async () => {
    const pair = keyPair('outside', 'rsa');
    keySet.published = { keys: [pair.jwk] };
    expect(await refusal(verifier('PS256').verify(await header(pair, { alg: 'RS256' })))).toBe('unauthenticated');
  });
});

describe('a verified token', () => {
  it('a verified token is rejected once it has expired, five seconds of tolerance included', async () => {
    const tokens = verifier();
    const short = await header(old, { expiresIn: -3 });
    expect(await tokens.verify(short)).toBeDefined();
    await setTimeout(2_500);
    expect(await refusal(tokens.verify(short))).toBe('unauthenticated');
  });

  it('the verifier returns undefined without a header, and only then', async () => {
    expect(await verifier().verify(undefined)).toBeUndefined();
    expect(await refusal(verifier().verify(''))).toBe('unauthenticated');
  });
});
