// The operator's command for scopes, and how they get into tokens.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  auditOf,
  eventsOf,
  type Holder,
  logIn,
  refresh,
  register,
  startAccounts,
  type TestAccounts,
} from './accounts.ts';
import { runCommand } from './command.ts';

let accounts: TestAccounts;
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts();
  holder = await register(accounts);
});

afterAll(() => accounts.services.stop());

const staff = (...words: string[]) => runCommand(accounts, 'staff', words);
const succeed = async (...words: string[]) => {
  const { code, error, json } = await staff(...words);
  expect([code, error]).toEqual([0, '']);
  return json;
};

it('grants scopes, which the next token carries, also by renewal', async () => {
  const before = (await logIn(accounts, holder.email)).body;
  expect(decodeJwt(before.access_token).scope).toBe('');
  const granted = await staff('grant', ` ${holder.email.toUpperCase()}`, 'orders:fulfil', 'catalogue:write');
  expect(granted).toEqual({
    code: 0,
    json: { accountId: holder.id, email: holder.email, scopes: ['catalogue:write', 'orders:fulfil'] },
    error: '',
  });
  const renewed = (await refresh(accounts, before.refresh_token)).body;
  expect(decodeJwt(renewed.access_token).scope).toBe('catalogue:write orders:fulfil');
  expect(decodeJwt((await logIn(accounts, holder.email)).body.access_token).scope).toBe(
    'catalogue:write orders:fulfil',
  );
});

it('adds to what is there, and revokes what is named', async () => {
  const { email } = await register(accounts);
  await succeed('grant', email, 'orders:fulfil');
  expect((await succeed('grant', email, 'orders:read-all')).scopes).toEqual(['orders:fulfil', 'orders:read-all']);
  expect((await succeed('revoke', email, 'orders:fulfil', 'catalogue:write')).scopes).toEqual(['orders:read-all']);
  expect(decodeJwt((await logIn(accounts, email)).body.access_token).scope).toBe('orders:read-all');
});

it('lists the staff', async () => {
  const { email, id } = await register(accounts);
  await succeed('grant', email, 'orders:read-all');
  expect((await succeed('list')).staff).toContainEqual({ accountId: id, email, scopes: ['orders:read-all'] });
  await succeed('revoke', email, 'orders:read-all');
  expect((await succeed('list')).staff).not.toContainEqual(expect.objectContaining({ email }));
});

it('writes each change into the audit log, and what changes nothing not', async () => {
  const { email, id } = await register(accounts);
  await succeed('grant', email, 'orders:fulfil');
  await succeed('grant', email, 'orders:fulfil');
  expect(await auditOf(accounts, id)).toEqual([
    { action: 'scopes-changed', detail: { from: [], to: ['orders:fulfil'] } },
  ]);
});

it('leaves entity tag, representation and events alone', async () => {
  const { email, id, path, token } = await register(accounts);
  const before = await accounts.client.get(path, { token });
  await succeed('grant', email, 'orders:fulfil');
  const after = await accounts.client.get(path, { token });
  expect(after.text).toBe(before.text);
  expect(after.headers.etag).toBe(before.headers.etag);
  expect(await eventsOf(accounts, id)).toHaveLength(1);
});

it.each([
  [
    ['grant', 'nobody@example.com', 'orders:fulfil'],
    'staff: there is no account with the e-mail nobody@example.com: it has to be registered first\n',
  ],
  [['grant', 'EMAIL', 'orders:everything'], /unknown scope orders:everything; known are catalogue:write/],
  [['grant', 'EMAIL', 'orders:fulfil', '*'], /unknown scope \*/],
  [['grant', 'EMAIL'], /name at least one scope/],
  [[], /use: staff grant/],
])('refuses %j with one line and exit code 1', async (words, line) => {
  const { code, error, json } = await staff(...words.map((word) => (word === 'EMAIL' ? holder.email : word)));
  expect(code).toBe(1);
  expect(error).toMatch(line);
  expect(error.trimEnd()).not.toContain('\n');
  expect(json).toBeUndefined();
});

it('names what is wrong with the environment', async () => {
  const { code, error } = await runCommand(accounts, 'staff', ['list'], { DATABASE_URL: 'nowhere' });
  expect(code).toBe(1);
  expect(error).toBe('staff: DATABASE_URL must be a URL that starts with postgres:// or postgresql://\n');
});
