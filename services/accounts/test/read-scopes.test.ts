// POST /internal/scopes: the scopes that accounts and machines have at present.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServiceTokens } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { testSecret } from '@shop/shared/testing';
import { createMachine, grantScopes, revokeMachine, revokeScopes } from '../src/operator/index.ts';
import { register, startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;
beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts?.services.stop());

const environment = () => ({ DATABASE_URL: accounts.services.database.urls.accounts });
const path = '/internal/scopes';

async function scopesOf(...callerIds: string[]): Promise<Record<string, string[]>> {
  const body = { callerIds };
  const signed = { method: 'POST', path, body: JSON.stringify(body) };
  const Authorization = createServiceTokens({ secrets: [testSecret], name: 'changes' }).sign('accounts', signed);
  const answer = await accounts.client.post(path, { body, headers: { Authorization } });
  expect(answer.status).toBe(200);
  const callers = answer.body.callers as unknown as { id: string; scopes: string[] }[];
  return Object.fromEntries(callers.map(({ id, scopes }) => [id, scopes]));
}

it('the scopes of an account are those that it has now, and customers have none', async () => {
  const [staff, customer] = [await register(accounts), await register(accounts)];
  await grantScopes(environment(), staff.email, ['orders:read-all', 'webhooks:write']);
  expect(await scopesOf(staff.id, customer.id, newId())).toEqual({
    [staff.id]: ['orders:read-all', 'webhooks:write'],
    [customer.id]: [],
  });
  await revokeScopes(environment(), staff.email, ['orders:read-all']);
  expect(await scopesOf(staff.id)).toEqual({ [staff.id]: ['webhooks:write'] });
});

it('a blocked account and a revoked machine are absent', async () => {
  const staff = await register(accounts);
  await grantScopes(environment(), staff.email, ['webhooks:write']);
  const name = `machine-${newId()}`;
  const { clientId } = await createMachine(environment(), name, ['webhooks:write']);
  expect(await scopesOf(staff.id, clientId)).toEqual({
    [staff.id]: ['webhooks:write'],
    [clientId]: ['webhooks:write'],
  });
  await accounts.database.query('UPDATE accounts SET blocked_at = now() WHERE id = $1', [staff.id]);
  await revokeMachine(environment(), name);
  expect(await scopesOf(staff.id, clientId)).toEqual({});
});

it('a request without the token of a service is refused', async () => {
  const token = await accounts.services.issuer.sign({ scopes: ['accounts:support'] });
  expect((await accounts.client.post(path, { token, body: { callerIds: [newId()] } })).status).toBe(401);
});
