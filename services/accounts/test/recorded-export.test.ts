// The calls from accounts to orders, notifications and changes for an export, against the recordings in contracts/. The other
// services do not run.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type RecordedService, startRecordedService } from '@shop/shared/testing';
import { register, startAccounts, type TestAccounts } from './accounts.ts';

const [first, last, final, webhook] = [newId(), newId(), newId(), newId()];
let orders: RecordedService;
let notifications: RecordedService;
let changes: RecordedService;
let accounts: TestAccounts;

beforeAll(async () => {
  const texts = { first, last, final, webhook };
  orders = await startRecordedService('accounts', 'orders', texts);
  notifications = await startRecordedService('accounts', 'notifications', texts);
  changes = await startRecordedService('accounts', 'changes', texts);
  changes.given('the account has a webhook');
  accounts = await startAccounts({
    environment: { ORDERS_URL: orders.url, NOTIFICATIONS_URL: notifications.url, CHANGES_URL: changes.url },
  });
});
afterAll(async () => {
  await accounts?.services.stop();
  await orders?.close();
  await notifications?.close();
  await changes?.close();
});

interface Export {
  readonly recipient: object;
  readonly orders: readonly object[];
  readonly emails: readonly object[];
  readonly webhooks: readonly object[];
}

async function exported(): Promise<Export> {
  const { path, token } = await register(accounts);
  const { status, text } = await accounts.client.get(`${path}/export`, { token });
  expect(status).toBe(200);
  return JSON.parse(text) as Export;
}

it('an export has every page of the orders and of the e-mails, and the webhooks', async () => {
  orders.given('the account has 201 orders');
  notifications.given('the account has 201 e-mails');
  expect(await exported()).toMatchObject({
    recipient: { email: 'ada@example.org' },
    orders: [{ id: first }, { id: final }],
    emails: [{ id: first }, { id: final }],
    webhooks: [{ id: webhook }],
  });
});

it('an export has an empty list for an account without orders', async () => {
  orders.given('the account has no orders');
  expect(await exported()).toMatchObject({ orders: [] });
});

it('the accounts service agrees with the recordings in every call, and sends every recorded call', () => {
  expect([...orders.deviations(), ...notifications.deviations(), ...changes.deviations()]).toEqual([]);
});
