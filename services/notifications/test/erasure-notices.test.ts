// The notices about a pending erasure: which addresses get them, and what each is told to do.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { EventPayloads } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { joinEvents, type ShopEvents } from './shop-events.ts';

let services: TestServices;
let events: ShopEvents;

beforeAll(async () => {
  services = await startServices(['notifications']);
  events = await joinEvents(services.database.urls.events);
});
afterAll(async () => {
  await events?.close();
  await services?.stop();
});

type Change = Partial<EventPayloads['account.updated.v1']>;
const eraseAt = '2026-11-28T03:05:00.000Z';

async function update(change: Change, accountId: string = newId(), sequence = 2) {
  const id = newId();
  const account = { accountId, email: `${accountId}@example.org`, name: 'Ada', emailVerified: true };
  await events.send('account.updated.v1', { ...account, ...change }, { id, sequence });
  return { id, accountId, email: account.email };
}

/** The e-mails of the event as recipient → text. */
async function mailsOf(eventId: string, count: number): Promise<Record<string, string>> {
  return eventually(async () => {
    const files = (await readdir(services.mailFolder)).filter((name) => name.startsWith(eventId));
    expect(files).toHaveLength(count);
    const texts = await Promise.all(files.map((name) => readFile(join(services.mailFolder, name), 'utf8')));
    return Object.fromEntries(
      texts.map((text) => [/^To: .*?([\w.-]+@example\.org)/m.exec(text)?.[1] ?? '', text.replaceAll('=\r\n', '')]),
    );
  }, 15_000);
}

it('the notifications service sends the notice to the address of the account and to each previous address, which undoes the change', async () => {
  const former = ['ada@example.org', 'ada.quibblewick@example.org'];
  const { id, email } = await update({ eraseAt, formerEmails: former });
  const mails = await mailsOf(id, 3);
  expect(Object.keys(mails).sort()).toEqual([email, ...former].sort());
  expect(mails[email]).toContain('If you did not request it, set a new password');
  for (const address of former) {
    expect(mails[address]).toContain('November 28, 2026 at 3:05');
    expect(mails[address]).toContain('keep your address: this withdraws the erasure');
    expect(mails[address]).not.toContain('set a new password');
  }
});

it('the notifications service sends the reminder of the same account and version as an e-mail of its own', async () => {
  const { id: first, accountId, email } = await update({ eraseAt });
  const { id: second } = await update({ eraseAt, erasureReminder: true, formerEmails: ['ada@example.org'] }, accountId);
  expect((await mailsOf(first, 1))[email]).toContain('Your account is to be erased');
  const reminders = await mailsOf(second, 2);
  for (const address of [email, 'ada@example.org'])
    expect(reminders[address]).toContain('Your account will soon be erased');
});

it('the notifications service sends no notice to an address that is not verified, and none about a change without an erasure', async () => {
  const unverified = await update({ eraseAt, emailVerified: false });
  const other = await update({ name: 'Bo' });
  const { rows } = await eventually(async () => {
    const inbox = services.service('notifications').database;
    const handled = await inbox.query('SELECT FROM recipients WHERE account_id = ANY ($1::uuid[])', [
      [unverified.accountId, other.accountId],
    ]);
    expect(handled.rowCount).toBe(2);
    return inbox.query('SELECT FROM notifications WHERE account_id = ANY ($1::uuid[])', [
      [unverified.accountId, other.accountId],
    ]);
  });
  expect(rows).toEqual([]);
});
