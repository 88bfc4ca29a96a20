// How operators list, rotate, revoke and check signing keys.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { checkSigningKeys, listSigningKeys, revokeSigningKey, rotateSigningKeys } from '../src/operator/index.ts';
import { startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
});

afterAll(() => accounts.services.stop());

const environment = () => ({
  DATABASE_URL: accounts.services.database.urls.accounts,
  KEY_ENCRYPTION_SECRET: Buffer.alloc(32, 7).toString('base64url'),
});

it('the command keys lists, rotates and revokes keys, and returns the keys after each change', async () => {
  const listed = await listSigningKeys(environment());
  expect(listed.map(({ state }) => state).sort()).toEqual(['current', 'next']);
  for (const key of listed) {
    expect(Object.keys(key).sort()).toEqual([
      'createdAt',
      'currentAt',
      'kid',
      'published',
      'retiredAt',
      'revokedAt',
      'state',
    ]);
  }
  const current = String(listed.find(({ state }) => state === 'current')?.kid);
  const rotated = await rotateSigningKeys(environment());
  expect(rotated).toContainEqual(expect.objectContaining({ kid: current, state: 'retiring', published: true }));
  const revoked = await revokeSigningKey(environment(), current);
  expect(revoked).toContainEqual(expect.objectContaining({ kid: current, state: 'revoked', published: false }));
  expect(await checkSigningKeys(environment())).toEqual(revoked);
});

it('the command keys refuses to revoke a key that does not exist', async () => {
  await expect(revokeSigningKey(environment(), 'no-such-key')).rejects.toThrow('there is no signing key no-such-key');
});

it('the command keys rejects a secret that did not encrypt the keys', async () => {
  const wrong = { ...environment(), KEY_ENCRYPTION_SECRET: Buffer.alloc(32, 8).toString('base64url') };
  await expect(checkSigningKeys(wrong)).rejects.toThrow('KEY_ENCRYPTION_SECRET does not open the signing keys');
});

it('the command keys names the missing variables of the environment', async () => {
  await expect(listSigningKeys({ ...environment(), KEY_ENCRYPTION_SECRET: '' })).rejects.toThrow(
    'KEY_ENCRYPTION_SECRET is required',
  );
});
