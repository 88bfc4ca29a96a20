// The calls from changes to accounts for the scopes of owners, against the recordings in contracts/. Accounts does not run.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServiceTokens } from '@shop/shared/auth';
import { createInternalClient, type InternalClient } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import { type RecordedService, startRecordedService, testSecret } from '@shop/shared/testing';
import { openPresentScopes } from '../../src/webhooks/present-scopes.ts';

const [account, unknown] = [newId(), newId()];
const held = ['catalogue:write', 'orders:read-all', 'webhooks:write'];
let accounts: RecordedService;
let client: InternalClient;
beforeAll(async () => {
  accounts = await startRecordedService('changes', 'accounts', { account, unknown });
  const serviceTokens = createServiceTokens({ secrets: [testSecret], name: 'changes' });
  client = createInternalClient({ url: accounts.url, service: 'accounts', serviceTokens });
});
afterAll(async () => {
  await client?.close();
  await accounts?.close();
});

it.each(['Ada may read all orders and add webhooks', 'a machine may read all orders and add webhooks'])(
  'a webhook is sent with the scopes that its owner still has and that its last change had, given %s',
  async (state) => {
    accounts.given(state);
    const scopesOf = await openPresentScopes(client)([account, unknown, account]);
    expect([...scopesOf({ ownerId: account, scopes: held })]).toEqual(['orders:read-all', 'webhooks:write']);
    expect([...scopesOf({ ownerId: account, scopes: ['webhooks:write'] })]).toEqual(['webhooks:write']);
    expect([...scopesOf({ ownerId: unknown, scopes: held })]).toEqual([]);
  },
);

it('the scopes are unknown while accounts is unavailable, so that nothing is sent', async () => {
  accounts.given('a state without a recording');
  await expect(openPresentScopes(client)([account, unknown])).rejects.toMatchObject({ code: 'service-unavailable' });
});

it('with another identity provider, a webhook is sent with the scopes of its last change', async () => {
  const scopesOf = await openPresentScopes(undefined)([account]);
  expect([...scopesOf({ ownerId: account, scopes: held })]).toEqual(held);
});
