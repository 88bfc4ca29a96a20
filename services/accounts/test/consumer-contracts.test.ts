// The recordings that the consumers of accounts keep agree with the real process.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type ProviderStates } from '@shop/shared/testing';
import { consumerContractsSuite } from '@shop/shared/testing/consumer-contracts';
import { decodeJwt } from 'jose';
import { createMachine, grantScopes } from '../src/operator/index.ts';
import { type Holder, logIn, password, register, startAccounts, type TestAccounts, verify } from './accounts.ts';

let accounts: TestAccounts;

beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(async () => {
  await accounts?.services.stop();
});

const ada = async (): Promise<Holder> => register(accounts, { name: 'Ada Lovelace' });

async function change(body: object): Promise<Record<string, string>> {
  const { id, email, token, path } = await ada();
  await verify(accounts, id);
  expect((await accounts.client.patch(path, { token, body })).status).toBe(200);
  return { account: id, email };
}

const environment = () => ({ DATABASE_URL: accounts.services.database.urls.accounts });

const states: ProviderStates = {
  async 'Ada registers'() {
    const { id, email } = await ada();
    return { account: id, email };
  },
  'Ada changes her telephone number': () => change({ phone_number: '+41 44 668 18 00' }),
  'Ada changes her password': () => change({ password: 'a short and loud brook', current_password: password }),
  async 'staff set the tax id of Ada'() {
    const { id, email, path } = await ada();
    const token = await accounts.services.issuer.sign({ scopes: ['accounts:support'] });
    const body = { tax_id: { country: 'AT', value: 'ATU12345678' }, reason: 'In the register' };
    expect((await accounts.client.post(`${path}/set-tax-id`, { token, body })).status).toBe(204);
    return { account: id, email };
  },
  async 'the account of Ada is erased'() {
    const { id, token } = await ada();
    const body = { current_password: password };
    expect((await accounts.client.post(`/v1/accounts/${id}/erase`, { token, body })).status).toBe(202);
    await accounts.database.query("UPDATE accounts SET erase_at = now() - interval '2 hours' WHERE id = $1", [id]);
    await eventually(async () => {
      const { rows } = await accounts.database.query('SELECT FROM accounts WHERE id = $1', [id]);
      expect(rows).toEqual([]);
    }, 30_000);
    return { account: id };
  },
  async 'Ada may read all orders and add webhooks'() {
    const { id, email } = await ada();
    await grantScopes(environment(), email, ['webhooks:write', 'orders:read-all']);
    return { account: id, unknown: newId() };
  },
  async 'a machine may read all orders and add webhooks'() {
    const scopes = ['webhooks:write', 'orders:read-all'] as const;
    const { clientId } = await createMachine(environment(), `machine-${newId()}`, scopes);
    return { account: clientId, unknown: newId() };
  },
  async 'a session has ended'() {
    await accounts.database.query('DELETE FROM ended_sessions');
    const { body } = await logIn(accounts, (await ada()).email);
    await accounts.client.post('/v1/tokens/revoke', { body: { refresh_token: body.refresh_token } });
    const { next } = (await accounts.client.get('/internal/ended-sessions')).body;
    return { session: String(decodeJwt(body.access_token).sid), since: String(next) };
  },
};

consumerContractsSuite('accounts', states, () => accounts.services);
