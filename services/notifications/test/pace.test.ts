// The limit of e-mails for a recipient, over all accounts and all senders, and the notices about changed credentials.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { eventually, lockWaits, startServices, type TestServices, testSecret } from '@shop/shared/testing';
import { claimEmails } from '../src/email/notification-queue.ts';
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
  it('a recipient gets as many e-mails within an hour as the operator allows, and the others later', async () => {
    const accounts = [newId(), newId()];
    for (const [index, accountId] of accounts.entries()) {
      const email = index === 0 ? 'Überflutet@Example.org' : 'überflutet@example.org';
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

  it('a recipient receives only "order cancelled" when "order received" still waits for its time', async () => {
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

  it('a recipient does not wait for the e-mails of an account that had the address before', async () => {
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

  it('a recipient does not wait for obsolete e-mails', async () => {
    const { accountId, account } = someOrder();
    await events.send('account.registered.v1', { ...account, email: 'changes-his-mind@example.org' });
    const orders = Array.from({ length: 6 }, () => ({ ...someOrder() }));
    for (const { created } of orders) await events.send('order.created.v1', { ...created, accountId });
    await eventually(async () => expect(await statesOf([accountId])).toEqual({ sent: 3, delayed: 3 }));
    for (const { cancelled } of orders.slice(3)) await events.send('order.cancelled.v1', { ...cancelled, accountId });
    await eventually(async () => expect((await statesOf([accountId])).delayed).toBe(3));
    expect((await minutesOf(accountId)).at(-1)).toBe(60);
  });

  it('a recipient gets no more e-mails when several senders claim concurrently', async () => {
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
    const [claimed, delayed] = [claims.flatMap(({ emails }) => emails), claims.map((claim) => claim.delayed)];
    expect(claimed.length + delayed.reduce((sum, count) => sum + count, 0)).toBe(200);
    // The time of the last one of the burst is the start of the first claim. A sender that began before that claim, and
    // came after it, delays this e-mail by less than a second.
    const { rows } = await database().query<{ present: number }>(
      `SELECT count(*)::int AS present FROM notifications
       WHERE account_id = $1 AND next_attempt_at < now() + interval '1 minute'`,
      [accountId],
    );
    expect(rows).toEqual([{ present: 20 }]);
    expect([19, 20]).toContain(claimed.length);
    await database().query('DELETE FROM notifications WHERE account_id = $1', [accountId]);
    await services.service('notifications').restart();
  });
});

describe('a verification e-mail', () => {
  const address = () => `${newId()}@example.org`;
  const seal = createEmailTokenSeal([testSecret]);
  type State = 'registered' | 'requested' | 'verified';
  const issue = (
    accountId: string,
    email: string,
    kind: 'email-verification' | 'password-reset',
    addressState: State,
    clientNetwork?: string,
  ) => {
    const sealedToken = seal.seal('a-token', { kind, accountId, email });
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const network = clientNetwork === undefined ? {} : { clientNetwork };
    const data = { accountId, kind, email, addressState, ...network, name: 'Ada', sealedToken, expiresAt };
    return events.send('email-token.issued.v1', data);
  };
  const register = async (email: string) => {
    const accountId = newId();
    await events.send('account.registered.v1', { accountId, email, name: 'Ada', emailVerified: false });
    await eventually(async () => {
      const { rows } = await database().query('SELECT FROM recipients WHERE account_id = $1', [accountId]);
      expect(rows).toHaveLength(1);
    });
    return accountId;
  };

  /** Requests so many verification e-mails of the account, each after the one before is sent or delayed. */
  async function verifications(
    accountId: string,
    email: string,
    total: number,
    state: State = 'registered',
  ): Promise<void> {
    const { waiting: _, ...before } = await statesOf([accountId]);
    const sum = (states: Record<string, number>) => Object.values(states).reduce((all, count) => all + count, 0);
    for (let count = 1; count <= total; count += 1) {
      await issue(accountId, email, 'email-verification', state);
      await eventually(async () => {
        const states = await statesOf([accountId]);
        expect([states.waiting, sum(states)]).toEqual([undefined, sum(before) + count]);
      });
    }
  }

  /**
   * Uses up the share that all accounts without this address have.
   * @returns `delayed` accounts whose e-mails to the address wait for the share
   */
  async function flood(email: string, delayed: number): Promise<readonly string[]> {
    const strangers = await Promise.all(Array.from({ length: 3 + delayed }, () => register(address())));
    for (const stranger of strangers) await verifications(stranger, email, 1, 'requested');
    expect(await statesOf(strangers.slice(0, 3))).toEqual({ sent: 3 });
    for (const stranger of strangers.slice(3)) expect(await statesOf([stranger])).toEqual({ delayed: 1 });
    return strangers.slice(3);
  }

  it('a verification e-mail to the registered address is not delayed by requests of unauthenticated clients', async () => {
    const email = address();
    await flood(email.toUpperCase(), 2);
    const owner = await register(email);
    await verifications(owner, email, 4);
    expect(await statesOf([owner])).toEqual({ sent: 3, delayed: 1 });
    expect(await minutesOf(owner)).toEqual([20]);
  });

  it('a verification e-mail to the registered address waits neither for other clients nor for the event of its account', async () => {
    const email = address();
    await flood(email, 1);
    const owner = newId();
    await issue(owner, email, 'email-verification', 'registered');
    await eventually(async () => expect(await statesOf([owner])).toEqual({ sent: 1 }));
  });

  it('verification e-mails to many tags and notations of one mailbox count in one rate limit', async () => {
    const name = newId();
    const forms = ['+1@bücher.example', '+2@xn--bcher-kva.example', '+x+y@BÜCHER.example', '+3@b\u00adücher.example'];
    for (const [index, form] of forms.entries()) {
      const account = await register(address());
      await verifications(account, `${index === 2 ? name.toUpperCase() : name}${form}`, 1);
      expect(await statesOf([account])).toEqual(index < 3 ? { sent: 1 } : { delayed: 1 });
    }
    // The account that has the mailbox without a tag has a share of its own.
    const owner = await register(`${name}@bücher.example`);
    await verifications(owner, `${name}@bücher.example`, 1);
    expect(await statesOf([owner])).toEqual({ sent: 1 });
  });

  it('verification e-mails to many addresses count in the rate limit of the client network', async () => {
    const network = '2001:db8:0:1';
    const accounts = Array.from({ length: 11 }, () => newId());
    const [late = '', ...others] = accounts.toReversed();
    for (const account of accounts) {
      await issue(account, address(), 'email-verification', 'registered', network);
      await eventually(async () => expect(Object.keys(await statesOf([account]))[0]).toMatch(/sent|delayed/));
    }
    expect(await statesOf(accounts)).toEqual({ sent: 9, delayed: 2 });
    expect(await minutesOf(late)).toEqual([13]);
    const elsewhere = newId();
    await issue(elsewhere, address(), 'password-reset', 'verified', '192.0.2.7');
    await eventually(async () => expect(await statesOf([elsewhere])).toEqual({ sent: 1 }));
    await database().query("UPDATE notifications SET next_attempt_at = now() WHERE status = 'waiting'");
    await eventually(async () => expect(await statesOf([late, ...others])).toEqual({ sent: 11 }));
  });

  it('a verification e-mail to the registered address replaces a delayed one at the time reserved for it', async () => {
    const email = address();
    const owner = await register(email);
    await verifications(owner, email, 5);
    expect(await statesOf([owner])).toEqual({ sent: 3, obsolete: 1, delayed: 1 });
    expect(await minutesOf(owner)).toEqual([20]);
  });

  it('a replaced verification e-mail of one unauthenticated client is not sent at the same time as that of another client', async () => {
    const email = address();
    const [first = '', second = ''] = await flood(email, 2);
    await verifications(first, email, 1, 'requested');
    expect([await minutesOf(first), await minutesOf(second)]).toEqual([[60], [40]]);
  });

  it('a verification e-mail is not delayed by e-mails of an account that had the address before', async () => {
    const email = address();
    const former = await register(email);
    await verifications(former, email, 4);
    expect(await statesOf([former])).toEqual({ sent: 3, delayed: 1 });
    await events.send('account.updated.v1', { accountId: former, email: address(), name: 'Ada' }, { sequence: 2 });
    const owner = await register(email);
    await verifications(owner, email, 1);
    expect(await minutesOf(owner)).toEqual([20]);
  });

  it('a verification e-mail does not wait for those of accounts that registered the address and were erased', async () => {
    const email = address();
    const erase = async (accountId: string) => {
      const account = { accountId, email, name: 'Mallory', emailVerified: false };
      await events.send('account.updated.v1', { ...account, eraseAt: new Date().toISOString() }, { sequence: 2 });
      await eventually(async () => expect((await statesOf([accountId])).delayed).toBeUndefined());
    };
    for (let count = 0; count < 6; count += 1) {
      const stranger = await register(email);
      await verifications(stranger, email, 1);
      await erase(stranger);
      expect(await statesOf([stranger])).toEqual(count < 3 ? { sent: 1 } : { obsolete: 1 });
    }
    const owner = await register(email);
    await verifications(owner, email, 1);
    expect(await minutesOf(owner)).toEqual([20]);
  });

  it('deleting e-mails of one account locks their rate-limit slots in the same order as a sender', async () => {
    const email = address();
    const accountId = await register(email);
    const pool = database();
    const [first, last] = [`order ${email}`, `own verification ${email}`];
    await pool.query(
      "INSERT INTO recipient_paces SELECT key, now() + interval '5 hours' FROM unnest($1::text[]) AS keys (key)",
      [[last, first]],
    );
    // With statistics, the planner reads so small a table as it is stored, in the opposite order.
    await pool.query('ANALYZE recipient_paces');
    await pool.query(
      `INSERT INTO notifications (id, kind, order_id, account_id, recipient, details, request_id, paced_for, next_attempt_at)
       SELECT gen_random_uuid(), kind, order_id::uuid, $1, recipient, '{}', 'r', share, now() + interval '4 hours'
       FROM (VALUES ('email-verification', NULL, $2, $3), ('order-received', $4, NULL, $5))
         AS delayed (kind, order_id, recipient, share)`,
      [accountId, email, last, newId(), first],
    );
    const sender = await pool.connect();
    try {
      await sender.query('BEGIN');
      await sender.query(
        "UPDATE recipient_paces SET reserved_until = reserved_until + interval '10 minutes' WHERE key = $1",
        [first],
      );
      await events.send('account.updated.v1', { accountId, email: address(), name: 'Ada' }, { sequence: 2 });
      await eventually(async () => expect(await lockWaits(pool)).toBeGreaterThan(0));
      await sender.query('SELECT FROM recipient_paces WHERE key = $1 FOR UPDATE NOWAIT', [last]);
      await sender.query('COMMIT');
    } finally {
      sender.release(true);
    }
    await eventually(async () => {
      const { rows } = await pool.query<{ minutes: number }>(
        `SELECT round(extract(epoch FROM reserved_until - now()) / 60)::int AS minutes FROM recipient_paces
         WHERE key = ANY ($1) ORDER BY key`,
        [[first, last]],
      );
      expect(rows).toEqual([{ minutes: 290 }, { minutes: 280 }]);
    });
    await pool.query('DELETE FROM notifications WHERE account_id = $1', [accountId]);
  });
});

describe('the holder of an account', () => {
  const change = (accountId: string, sequence: number, more: object, id = newId()) =>
    events.send('account.updated.v1', { accountId, email: 'new@example.org', name: 'Ada', ...more }, { id, sequence });

  it('an account is notified of each address change at the old address, although the rate limit for orders is used up', async () => {
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

  it('the owner of an account waits for at most one notice of each kind, even when others often left its address', async () => {
    const [stranger, owner] = [newId(), newId()];
    const previousEmail = 'Écrit@example.org';
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
    await change(owner, 2, { email: 'écrit@example.org', credentialsChanged: ['password'] });
    await eventually(async () => expect(await statesOf([owner])).toEqual({ delayed: 1 }));
    expect(await statesOf([stranger])).toEqual({ sent: 3, delayed: 1 });
    expect(await minutesOf(owner)).toEqual([40]);
  });

  it('the owner of an account is notified of a changed password, and of both changes at the old address, also after a crash', async () => {
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
