// A secret is replaced in three steps: all processes accept the new one, then use it, then forget the former one.
import { describe, expect, it } from '@jest/globals';
import { createEmailTokenSeal, createServiceTokens } from '../../src/auth/index.ts';
import type { Secrets } from '../../src/runtime/index.ts';

const former = 'f'.repeat(32);
const next = 'n'.repeat(32);
const steps: readonly Secrets[] = [[former], [former, next], [next, former], [next]];
/** While processes are replaced, some are one step ahead of the others. */
const neighbours = steps.flatMap((secrets, step) =>
  steps.slice(Math.max(step - 1, 0), step + 2).map((of) => [secrets, of]),
);
const call = { method: 'POST', path: '/internal/reservations', body: '{"quantity":1}' };
const about = { kind: 'verify-email', accountId: 'account', email: 'ada@example.com' };

describe('while a secret is replaced', () => {
  it.each(neighbours)('a call that is signed with %j is accepted with %j', (signer = [former], verifier = [former]) => {
    const token = createServiceTokens({ secrets: signer, name: 'orders' }).sign('catalogue', call);
    const catalogue = createServiceTokens({ secrets: verifier, name: 'catalogue' });
    expect(() => catalogue.verify(token, 'catalogue', call)).not.toThrow();
  });

  it.each(neighbours)(
    'a token that is encrypted with %j is decrypted with %j',
    (sealer = [former], opener = [former]) => {
      const sealed = createEmailTokenSeal(sealer).seal('token', about);
      expect(createEmailTokenSeal(opener).open(sealed, about)).toBe('token');
    },
  );
});

describe('after a secret was replaced', () => {
  it('a value of the previous secret is rejected after a secret was replaced', () => {
    const token = createServiceTokens({ secrets: [former, next], name: 'orders' }).sign('catalogue', call);
    const catalogue = createServiceTokens({ secrets: [next], name: 'catalogue' });
    expect(() => catalogue.verify(token, 'catalogue', call)).toThrow('not valid');
    const sealed = createEmailTokenSeal([former]).seal('token', about);
    expect(() => createEmailTokenSeal([next]).open(sealed, about)).toThrow();
    expect(() => createEmailTokenSeal([next, former]).open(sealed, { ...about, email: 'eve@example.com' })).toThrow();
  });
});
