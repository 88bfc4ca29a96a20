// How operators grant scopes, and how the scopes get into tokens.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { StartError } from '@shop/shared/runtime';
import { decodeJwt } from 'jose';
import { grantScopes, listStaff, revokeScopes, type Staff, type StaffScope } from '../src/operator/index.ts';
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

let accounts: TestAccounts;
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts();
  holder = await register(accounts);
});

afterAll(() => accounts.services.stop());

const environment = () => ({ DATABASE_URL: accounts.services.database.urls.accounts });
const grant = (email: string, ...scopes: StaffScope[]): Promise<Staff> => grantScopes(environment(), email, scopes);
const revoke = (email: string, ...scopes: StaffScope[]): Promise<Staff> => revokeScopes(environment(), email, scopes);

it('the command staff grants scopes, which the next token contains, also a renewed one', async () => {
  const before = (await logIn(accounts, holder.email)).body;
  expect(decodeJwt(before.access_token).scope).toBe('');
  expect(await grant(` ${holder.email.toUpperCase()}`, 'orders:fulfil', 'catalogue:write')).toEqual({
    accountId: holder.id,
    email: holder.email,
    scopes: ['catalogue:write', 'orders:fulfil'],
  });
  const renewed = (await refresh(accounts, before.refresh_token)).body;
  expect(decodeJwt(renewed.access_token).scope).toBe('catalogue:write orders:fulfil');
  expect(decodeJwt((await logIn(accounts, holder.email)).body.access_token).scope).toBe(
    'catalogue:write orders:fulfil',
  );
});

it('the command staff adds scopes to the present ones, and revokes the named ones', async () => {
  const { email } = await register(accounts);
  await grant(email, 'orders:fulfil');
  expect((await grant(email, 'orders:read-all')).scopes).toEqual(['orders:fulfil', 'orders:read-all']);
  expect((await revoke(email, 'orders:fulfil', 'catalogue:write')).scopes).toEqual(['orders:read-all']);
  expect(decodeJwt((await logIn(accounts, email)).body.access_token).scope).toBe('orders:read-all');
});

it('the command staff lists the staff', async () => {
  const { email, id } = await register(accounts);
  await grant(email, 'orders:read-all');
  expect(await listStaff(environment())).toContainEqual({ accountId: id, email, scopes: ['orders:read-all'] });
  await revoke(email, 'orders:read-all');
  expect(await listStaff(environment())).not.toContainEqual(expect.objectContaining({ email }));
});

it('the command staff writes each change into the audit log, and nothing when nothing changes', async () => {
  const { email, id } = await register(accounts);
  await grant(email, 'orders:fulfil');
  await grant(email, 'orders:fulfil');
  expect(await auditOf(accounts, id)).toEqual([
    { action: 'scopes-changed', detail: { from: [], to: ['orders:fulfil'] } },
  ]);
});

it('the command staff changes neither the entity tag nor the representation, and publishes no event', async () => {
  const { email, id, path, token } = await register(accounts);
  const before = await accounts.client.get(path, { token });
  await grant(email, 'orders:fulfil');
  const after = await accounts.client.get(path, { token });
  expect(after.text).toBe(before.text);
  expect(after.headers.etag).toBe(before.headers.etag);
  expect(await eventsOf(accounts, id)).toHaveLength(1);
});

it('the command staff rejects an e-mail address without an account', async () => {
  await expect(grant('nobody@example.com', 'orders:fulfil')).rejects.toThrow(
    new StartError('there is no account with the e-mail nobody@example.com: it has to be registered first'),
  );
});

it('the command staff names the faults of the environment', async () => {
  await expect(listStaff({ DATABASE_URL: 'nowhere' })).rejects.toThrow(
    'DATABASE_URL must be a URL that starts with postgres:// or postgresql://',
  );
});
