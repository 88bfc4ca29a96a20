// The operator's command for signing keys.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startAccounts, type TestAccounts } from './accounts.ts';
import { runCommand } from './command.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts();
});

afterAll(() => accounts.services.stop());

const keys = (...words: string[]) => runCommand(accounts, 'keys', words);
const succeed = async (...words: string[]) => {
  const { code, error, json } = await keys(...words);
  expect([code, error]).toEqual([0, '']);
  return json.keys;
};

it('lists, rotates and revokes, and answers with the keys as they are then', async () => {
  const listed = await succeed('list');
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
  const rotated = await succeed('rotate');
  expect(rotated).toContainEqual(expect.objectContaining({ kid: current, state: 'retiring', published: true }));
  const revoked = await succeed('revoke', current);
  expect(revoked).toContainEqual(expect.objectContaining({ kid: current, state: 'revoked', published: false }));
});

it.each([[['revoke', 'no-such-key']], [['revoke']], [['rotate', 'now']], [['burn']]])(
  'refuses %j with one line and exit code 1',
  async (words) => {
    const { code, error, json } = await keys(...words);
    expect(code).toBe(1);
    expect(error).toMatch(/^keys: .+\n$/);
    expect(json).toBeUndefined();
  },
);

it('names what is missing in the environment', async () => {
  const { code, error } = await runCommand(accounts, 'keys', ['list'], { KEY_ENCRYPTION_SECRET: '' });
  expect(code).toBe(1);
  expect(error).toBe('keys: KEY_ENCRYPTION_SECRET is required\n');
});
