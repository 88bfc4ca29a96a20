// The limit of e-mails for a recipient, over all accounts and all senders, and the notices about changed credentials.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { claimEmails } from '../src/notification-queue.ts';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

let services: TestServices;
let events: ShopEvents;

beforeAll(async () => {
  services = await startServices(['notifications'], { environment: { EMAILS_PER_HOUR: '3' } });
  events = await joinEvents(services.database.urls.events);
});

afterAll(async () => {
  await events?.close();
  await services?.stop();
});

const database = () => services.service('notifications').database;

async function emailsTo(address: string): Promise<string[]> {
  const files = (await readdir(services.mailFolder)).filter((file) => file.endsWith('.eml'));
  const contents = await Promise.all(files.map((file) => readFile(join(services.mailFolder, file), 'utf8')));
  return contents.filter((content) => content.includes(address));
}

async function statesOf(accountIds: readonly string[]): Promise<Record<string, number>> {
  const { rows } = await database().query<{ state: string; count: number }>(
    `SELECT CASE WHEN status = 'waiting' AND next_attempt_at > now() + interval '1 minute'
       THEN 'delayed' ELSE status END AS state,
       count(*)::int AS count FROM notifications WHERE account_id = ANY ($1) GROUP BY 1`,
    [accountIds],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

async function minutesOf(accountId: string): Promise<number[]> {
  const { rows } = await database().query<{ minutes: number }>(
    `SELECT round(extract(epoch FROM next_attempt_at - now()) / 60)::int AS minutes FROM notifications
     WHERE account_id = $1 AND status = 'waiting' ORDER BY next_attempt_at`,
    [accountId],
  );
  return rows.map(({ minutes }) => minutes);
}

describe('a recipient', () => {
  it('gets as many e-mails within an hour as the operator allows, and the others later', async () => {
    const accounts = [newId(), newId()];
    for (const [index, accountId] of accounts.entries()) {
      const email = index === 0 ? 'Flooded@Example.org' : 'flooded@example.org';
      await events.send('account.registered.v1', { accountId, email, name: 'Ada' });
    }
    for (let count = 0; count < 6; count += 1) {
      const order = someOrder();
      await events.send('order.created.v1', { ...order.created, accountId: accounts[count % 2] ?? '' });
    }
    await eventually(async () => expect(await statesOf(accounts)).toEqual({ sent: 3, delayed: 3 }));
    const { rows } = await database().query<{ minutes: number }>(
      `SELECT round(extract(epoch FROM next_attempt_at - now()) / 60)::int AS minutes FROM notifications
       WHERE account_id = ANY ($1) AND status = 'waiting' ORDER BY next_attempt_at`,
      [accounts],
    );
    expect(rows.map(({ minutes }) => minutes)).toEqual([20, 40, 60]);

    const other = someOrder();
    await events.send('account.registered.v1', { ...other.account, email: 'calm@example.org' });
    await events.send('order.created.v1', other.created);
    await eventually(async () => expect(await statesOf([other.accountId])).toEqual({ sent: 1 }));

    await database().query("UPDATE notifications SET next_attempt_at = now() WHERE status = 'waiting'");
    await eventually(async () => expect(await statesOf(accounts)).toEqual({ sent: 6 }));
  });

  it('receives only "order cancelled" when "order received" still waits for its time', async () => {
    const order = someOrder();
    await events.send('account.registered.v1', { ...order.account, email: 'obsolete@example.org' });
    for (let count = 0; count < 3; count += 1)
      await events.send('order.created.v1', { ...someOrder().created, accountId: order.accountId });
    await eventually(async () => expect(await statesOf([order.accountId])).toEqual({ sent: 3 }));
    await events.send('order.created.v1', order.created);
    await eventually(async () => expect(await statesOf([order.accountId])).toEqual({ sent: 3, delayed: 1 }));
    await events.send('order.cancelled.v1', order.cancelled);
    await eventually(async () =>
      expect(await statesOf([order.accountId])).toEqual({ sent: 3, obsolete: 1, delayed: 1 }),
    );
  });

  it('does not wait behind the e-mails of an account that had the address before', async () => {
    const stranger = newId();
    const owner = someOrder();
    const email = 'taken@example.org';
    await events.send('account.registered.v1', { accountId: stranger, email, name: 'Ada' });
    for (let count = 0; count < 10; count += 1)
      await events.send('order.created.v1', { ...someOrder().created, accountId: stranger });
    await eventually(async () => expect(await statesOf([stranger])).toEqual({ sent: 3, delayed: 7 }));
    const moved = { accountId: stranger, email: 'moved@example.org', name: 'Ada' };
    await events.send('account.updated.v1', moved, { sequence: 2 });

    await events.send('account.registered.v1', { ...owner.account, email });
    await events.send('order.created.v1', owner.created);
    await eventually(async () => expect(await statesOf([owner.accountId])).toEqual({ delayed: 1 }));
    expect(await minutesOf(owner.accountId)).toEqual([20]);
    await database().query("UPDATE notifications SET next_attempt_at = now() WHERE status = 'waiting'");
    await eventually(async () => {
      expect(await statesOf([stranger])).toEqual({ sent: 6, delayed: 4 });
      expect(await statesOf([owner.accountId])).toEqual({ sent: 1 });
    });
  });

  it('does not wait for obsolete e-mails', async () => {
    const { accountId, account } = someOrder();
    await events.send('account.registered.v1', { ...account, email: 'changes-his-mind@example.org' });
    const orders = Array.from({ length: 6 }, () => ({ ...someOrder() }));
    for (const { created } of orders) await events.send('order.created.v1', { ...created, accountId });
    await eventually(async () => expect(await statesOf([accountId])).toEqual({ sent: 3, delayed: 3 }));
    for (const { cancelled } of orders.slice(3)) await events.send('order.cancelled.v1', { ...cancelled, accountId });
    await eventually(async () => expect((await statesOf([accountId])).delayed).toBe(3));
    expect((await minutesOf(accountId)).at(-1)).toBe(60);
  });

  it('gets no more e-mails when several senders claim concurrently', async () => {
    const accountId = newId();
    const email = 'many-senders@example.org';
    await services.service('notifications').kill();
    await database().query("INSERT INTO recipients (account_id, email, name, sequence) VALUES ($1, $2, 'Ada', 1)", [
      accountId,
      email,
    ]);
    await database().query(
      `INSERT INTO notifications (id, kind, order_id, account_id, details, request_id)
       SELECT gen_random_uuid(), 'order-received', gen_random_uuid(), $1, '{}', 'r' FROM generate_series(1, 200)`,
      [accountId],
    );
    const pool = database();
    const senders = Array.from({ length: 40 }, () =>
      claimEmails({ pool } as Parameters<typeof claimEmails>[0], 5, { burst: 20, secondsEach: 180 }),
    );
    const claims = await Promise.all(senders);
    expect(claims.reduce((sum, { emails }) => sum + emails.length, 0)).toBe(20);
    expect(claims.reduce((sum, { delayed }) => sum + delayed, 0)).toBe(180);
    await database().query('DELETE FROM notifications WHERE account_id = $1', [accountId]);
    await services.service('notifications').restart();
  });
});

describe('the holder of an account', () => {
  const change = (accountId: string, sequence: number, more: object, id = newId()) =>
    events.send('account.updated.v1', { accountId, email: 'new@example.org', name: 'Ada', ...more }, { id, sequence });

  it('is notified of each address change at the old address, although the share for orders is used up', async () => {
    const order = someOrder();
    const { accountId } = order;
    await events.send('account.registered.v1', { accountId, email: 'old@example.org', name: 'Ada' });
    for (let count = 0; count < 4; count += 1)
      await events.send('order.created.v1', { ...someOrder().created, accountId });
    await eventually(async () => expect(await statesOf([accountId])).toEqual({ sent: 3, delayed: 1 }));

    const id = newId();
    const changed = { credentialsChanged: ['email'] as const, previousEmail: 'old@example.org' };
    await change(accountId, 2, changed, id);
    await change(accountId, 2, changed, id);
    await eventually(async () => expect(await statesOf([accountId])).toMatchObject({ sent: 4 }));
    const [notice = '', ...others] = (await emailsTo('old@example.org')).filter((each) =>
      each.includes('Subject: The e-mail address of your account was changed'),
    );
    expect(others).toEqual([]);
    expect(notice).toContain('To: Ada <old@example.org>');
    expect(notice).not.toContain('new@example.org');
  });

  it('waits for at most one notice of each kind, even when others often left its address', async () => {
    const [stranger, owner] = [newId(), newId()];
    const previousEmail = 'wanted@example.org';
    const leave = (sequence: number) => change(stranger, sequence, { credentialsChanged: ['email'], previousEmail });
    for (let sequence = 2; sequence < 5; sequence += 1) await leave(sequence);
    await eventually(async () => expect(await statesOf([stranger])).toEqual({ sent: 3 }));
    await leave(5);
    await eventually(async () => expect(await statesOf([stranger])).toEqual({ sent: 3, delayed: 1 }));
    for (let sequence = 6; sequence < 16; sequence += 1) await leave(sequence);
    await eventually(async () => {
      const { rows } = await database().query('SELECT sequence::int FROM recipients WHERE account_id = $1', [stranger]);
      expect(rows).toEqual([{ sequence: 15 }]);
    });
    await change(owner, 2, { email: previousEmail, credentialsChanged: ['password'] });
    await eventually(async () => expect(await statesOf([owner])).toEqual({ delayed: 1 }));
    expect(await statesOf([stranger])).toEqual({ sent: 3, delayed: 1 });
    expect(await minutesOf(owner)).toEqual([40]);
  });

  it('is notified of a changed password, and of both changes at the old address, also after a crash', async () => {
    const accountId = newId();
    await events.send('account.registered.v1', { accountId, email: 'both-old@example.org', name: 'Ada' });
    const service = services.service('notifications');
    await service.kill('SIGKILL');
    await change(accountId, 2, { credentialsChanged: ['email', 'password'], previousEmail: 'both-old@example.org' });
    await service.restart();
    await eventually(async () => expect(await statesOf([accountId])).toEqual({ sent: 2 }));
    const subjects = (await emailsTo('both-old@example.org')).map((each) => /^Subject: (.*)$/m.exec(each)?.[1]?.trim());
    expect(subjects.sort()).toEqual([
      'The e-mail address of your account was changed',
      'The password of your account was changed',
    ]);
  });
});
