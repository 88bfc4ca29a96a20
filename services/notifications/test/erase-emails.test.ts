// account.erased.v1: late events of an erased account store nothing, and waiting e-mails are not sent.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices, testSecret } from '@shop/shared/testing';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

let services: TestServices;
let events: ShopEvents;

beforeAll(async () => {
  services = await startServices(['notifications'], { shared: false });
  events = await joinEvents(services.database.urls.events);
});
afterAll(async () => {
  await events?.close();
  await services?.stop();
});

const database = () => services.service('notifications').database;

async function swept(accountId: string): Promise<void> {
  await eventually(async () => {
    const { rows } = await database().query('SELECT FROM erased_accounts WHERE account_id = $1 AND sweeps > 0', [
      accountId,
    ]);
    expect(rows).toHaveLength(1);
  }, 30_000);
}

const keptOf = async (accountId: string) => {
  const { rows } = await database().query<{ kept: string }>(
    `SELECT kind || ' ' || status || ' ' || details AS kept FROM notifications WHERE account_id = $1
     UNION ALL SELECT 'recipient ' || email FROM recipients WHERE account_id = $1 ORDER BY 1`,
    [accountId],
  );
  return rows.map(({ kept }) => kept);
};

const erase = (accountId: string) =>
  events.send('account.erased.v1', { accountId, erasedAt: new Date().toISOString() }, { sequence: 9 });

it('the erasure of e-mails withholds waiting ones, removes the files, and retains kinds and states', async () => {
  const order = someOrder();
  await events.send('account.registered.v1', { ...order.account, emailVerified: true });
  await events.send('order.created.v1', order.created);
  await events.send('refund.done.v1', order.refunded, { sequence: 4 });
  await eventually(async () =>
    expect(await keptOf(order.accountId)).toEqual(
      [/^order-received sent/, /^order-refunded 4 sent/, /^recipient/].map((kept) => expect.stringMatching(kept)),
    ),
  );
  await database().query(
    "UPDATE notifications SET next_attempt_at = now() + interval '1 hour' WHERE status = 'waiting'",
  );
  const files = async () => (await readdir(services.mailFolder)).filter((file) => file.includes(order.orderId));
  expect(await files()).toHaveLength(2);
  await erase(order.accountId);
  await swept(order.accountId);
  expect(await keptOf(order.accountId)).toEqual(['order-received sent {}', 'order-refunded 4 sent {}']);
  expect(await files()).toEqual([]);
});

it('the erasure of e-mails removes the address from every rate-limit slot that its e-mails reserved', async () => {
  const order = someOrder();
  const { accountId } = order;
  const email = `${accountId}@example.org`;
  const other = `other-${email}`;
  await events.send('account.registered.v1', { ...order.account, email, emailVerified: true });
  await eventually(async () => expect(await keptOf(accountId)).toEqual([`recipient ${email}`]));
  const token = (kind: 'email-verification' | 'password-reset', address: string) => {
    const sealedToken = createEmailTokenSeal([testSecret]).seal('token', { kind, accountId, email: address });
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const addressState = address === email ? 'registered' : 'requested';
    const data = { accountId, kind, email: address, addressState, name: 'Ada', sealedToken, expiresAt } as const;
    return events.send('email-token.issued.v1', data);
  };
  await events.send('order.created.v1', order.created);
  await token('email-verification', email);
  await token('email-verification', other);
  await token('password-reset', email);
  const shares = async () => {
    const { rows } = await database().query<{ key: string }>(
      'SELECT key FROM recipient_paces WHERE key LIKE $1 ORDER BY key',
      [`%${email}`],
    );
    return rows.map(({ key }) => key);
  };
  const reserved = [`account ${email}`, `order ${email}`, `own verification ${email}`, `verification ${other}`];
  await eventually(async () => expect(await shares()).toEqual(reserved));
  await eventually(async () =>
    expect((await keptOf(accountId)).filter((kept) => kept.includes(' sent '))).toHaveLength(4),
  );
  await erase(accountId);
  await swept(accountId);
  expect(await shares()).toEqual([]);
});

it('a failed erasure of the e-mails of one account does not stop the others', async () => {
  const [stuck, other] = [someOrder(), someOrder()];
  for (const { account, created } of [stuck, other]) {
    await events.send('account.registered.v1', { ...account, emailVerified: true });
    await events.send('order.created.v1', created);
  }
  for (const { accountId } of [stuck, other])
    await eventually(async () => expect((await keptOf(accountId))[0]).toMatch(/^order-received sent/));
  // A folder takes the place of the file, so that the file cannot be removed.
  const file = join(services.mailFolder, `${stuck.orderId}.order-received.eml`);
  await rm(file);
  await mkdir(file);
  await erase(stuck.accountId);
  await eventually(
    () => expect(services.service('notifications').output()).toContain('an erased account waits'),
    30_000,
  );
  await erase(other.accountId);
  await swept(other.accountId);
  expect(await keptOf(other.accountId)).toEqual(['order-received sent {}']);
  expect(await keptOf(stuck.accountId)).toHaveLength(2);
  await rm(file, { recursive: true });
});

it('after the erasure of an account, no data of later events is stored', async () => {
  const order = someOrder();
  const { accountId } = order;
  await erase(accountId);
  await swept(accountId);
  await events.send('account.updated.v1', { ...order.account, credentialsChanged: ['password'] }, { sequence: 3 });
  await events.send('order.created.v1', order.created);
  await events.send('order.paid.v1', order.paid, { sequence: 2 });
  await events.send('order.cancelled.v1', order.cancelled, { sequence: 3 });
  await events.send('refund.due.v1', order.refundDue, { sequence: 4 });
  await events.send('refund.done.v1', order.refunded, { sequence: 5 });
  const kind = 'email-verification';
  const { email, name } = order.account;
  const sealedToken = createEmailTokenSeal(['x'.repeat(32)]).seal('token', { kind, accountId, email });
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  await events.send('email-token.issued.v1', { accountId, kind, email, name, sealedToken, expiresAt });
  // The events of another account, which were sent later, have been handled.
  const other = someOrder();
  await events.send('account.registered.v1', { ...other.account, accountId: newId(), emailVerified: true });
  await events.send('account.registered.v1', { ...other.account, emailVerified: true });
  await events.send('order.created.v1', other.created);
  await eventually(async () => expect((await keptOf(other.accountId))[0]).toMatch(/^order-received sent/));
  const { rows } = await database().query<{ n: number }>(
    'SELECT count(*)::int AS n FROM inbox WHERE subject = ANY ($1)',
    [[accountId, order.orderId]],
  );
  expect(rows).toEqual([{ n: 8 }]);
  expect(await keptOf(accountId)).toEqual([]);
});
