// The cache of verified tokens. One token is one entry, however its header is written.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTokenVerifier, type TokenVerifier } from '../../src/auth/index.ts';
import { createLog } from '../../src/runtime/index.ts';
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
    'is known again, not verified anew and kept once more, when the header begins with "%s"',
    async (scheme) => {
      const signed = await token(pair);
      const caller = await tokens.verify(`Bearer ${signed}`);
      expect(caller).toBeDefined();
      // A token that was verified again gives another object.
      expect(await tokens.verify(`${scheme}${signed}`)).toBe(caller);
      expect(await tokens.verify(`Bearer ${signed}`)).toBe(caller);
    },
  );

  it('is forgotten when 10,000 others have come since, and not before', async () => {
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

  it('has no spelling of any length', async () => {
    const signed = await token(pair);
    await tokens.verify(`Bearer ${signed}`);
    await expect(tokens.verify(`Bearer${' '.repeat(9)}${signed}`)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(tokens.verify(`Bearer ${signed} `)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});
