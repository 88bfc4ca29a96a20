// What staff with the scope `accounts:support` does with the accounts of customers.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestAnswer } from '@shop/shared/testing';
import { mailboxCondition } from '../src/account/mailbox.ts';
import { grantScopes } from '../src/operator/index.ts';
import { prefixCondition } from '../src/support/support-collections.ts';
import {
  auditOf,
  countEmails,
  emailTokenOf,
  eventsOf,
  freshEmail,
  type Holder,
  logIn,
  password,
  refresh,
  refreshTokenOf,
  register,
  startAccounts,
  type TestAccounts,
} from './accounts.ts';

let accounts: TestAccounts;
const staffId = newId();
let token: string;

beforeAll(async () => {
  accounts = await startAccounts();
  token = await accounts.services.issuer.sign({ accountId: staffId, scopes: ['accounts:support'] });
});

afterAll(() => accounts.services.stop());

const reason = 'Asked by the holder on the telephone';
const actions = ['block', 'unblock', 'end-sessions', 'send-password-reset'] as const;
type Action = (typeof actions)[number];

const act = (accountId: string, action: Action, body: unknown = { reason }, headers: Record<string, string> = {}) =>
  accounts.client.post(`/v1/accounts/${accountId}/${action}`, { token, body, headers });

const find = (query: Record<string, string>) =>
  accounts.client.get(`/v1/accounts?${new URLSearchParams(query)}`, { token });

const idsOf = ({ body }: TestAnswer) => body.items.map(({ id }) => id);

/** Returns the items of all pages. */
async function readAll(path: string): Promise<TestAnswer['body']['items']> {
  const { status, body, headers } = await accounts.client.get(path, { token });
  expect(status).toBe(200);
  const next = /^<([^>]+)>; rel="next"$/.exec(headers.link ?? '')?.[1];
  expect(next === undefined).toBe(body.pagination.nextCursor === undefined);
  return next === undefined ? body.items : [...body.items, ...(await readAll(next))];
}

describe('GET /v1/accounts', () => {
  it('GET /v1/accounts finds one account by its whole e-mail address in any spelling, with the members that staff needs', async () => {
    const { id, email } = await register(accounts, { locale: 'de-CH', phone_number: '+41 61 555 01 23' });
    for (const spelling of [email, ` ${email.toUpperCase()} `]) {
      const { status, body } = await find({ email: spelling });
      expect([status, body]).toEqual([
        200,
        {
          items: [
            {
              id,
              email,
              email_verified: false,
              name: 'Kim Park',
              locale: 'de-CH',
              staff: false,
              created_at: expect.any(String),
            },
          ],
          pagination: { limit: 20, hasMore: false },
        },
      ]);
    }
    expect(idsOf(await find({ email: email.slice(0, -1) }))).toEqual([]);
  });

  it('GET /v1/accounts finds accounts by the beginning of the e-mail address or the name, and each of them once', async () => {
    const stem = `zo${newId().slice(-6)}`;
    const { id: byEmail } = await register(accounts, { email: `${stem}@example.com` });
    const { id: byName } = await register(accounts, { name: `${stem.toUpperCase()} Müller` });
    const { id: byBoth } = await register(accounts, { email: `${stem}.m@example.com`, name: `${stem} müller` });
    await register(accounts, { name: `Another ${stem}` });
    expect(idsOf(await find({ q: stem }))).toEqual([byBoth, byName, byEmail]);
    expect(idsOf(await find({ q: ` ${stem.toUpperCase()} MÜ` }))).toEqual([byBoth, byName]);
  });

  it.each([
    ['Ümit', 'ümit', 'ÜMIT'],
    ['ÉLODIE', 'élodie', 'Élodie'],
    ['ЁЖИК', 'ёжик', 'Ёжик'],
    ['ΟΔΟΣ', 'οδος', 'οδοσ', 'ΟΔΟΣ'],
    ['İsmail', 'İsmail', 'i\u0307smail'],
    ['Straße', 'straße', 'STRAẞE'],
  ])('GET /v1/accounts finds an account by the name %j in capital and in small letters', async (name, ...spellings) => {
    const stem = newId().slice(-6);
    const { id } = await register(accounts, { name: `${name} ${stem}` });
    for (const spelling of spellings)
      expect([spelling, idsOf(await find({ q: `${spelling} ${stem}` }))]).toEqual([spelling, [id]]);
  });

  it('GET /v1/accounts pages through the accounts, and a cursor belongs to its query', async () => {
    const stem = `zp${newId().slice(-6)}`;
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.unshift((await register(accounts, { email: `${stem}${index}@example.com` })).id);
    }
    const found = await readAll(`/v1/accounts?q=${stem}&limit=2`);
    expect(found.map(({ id }) => id)).toEqual(ids);
    const { nextCursor = '' } = (await find({ q: stem, limit: '2' })).body.pagination;
    const { status, body } = await find({ q: `${stem}1`, limit: '2', cursor: nextCursor });
    expect([status, body.code]).toEqual([400, 'invalid-cursor']);
  });

  it.each(['%_%', "' OR ''='", '\\\\\\', 'a%%', '___', '"""', '\u0130\u0130\u0130', '👩‍👩‍👧', '￿￿￿'])(
    'GET /v1/accounts treats the characters %j literally',
    async (q) => {
      const { status, body } = await find({ q });
      expect([status, body.items]).toEqual([200, []]);
    },
  );

  it.each([
    [{}, 'email', 'is required, or q'],
    [{ email: 'kim@example.com', q: 'kim' }, 'q', 'must not be given with email'],
    [{ q: 'ki' }, 'q', 'must not have fewer than 3 characters'],
    [{ q: ' ki ' }, 'q', 'must have at least 3 characters without surrounding blanks'],
    [{ q: 'x'.repeat(255) }, 'q', 'must not have more than 254 characters'],
    [{ email: '' }, 'email', 'must not have fewer than 1 character'],
    [{ q: 'kim', name: 'kim' }, 'name', expect.stringContaining('is not a known parameter')],
    [{ q: 'kim', limit: '101' }, 'limit', 'must be <= 100'],
  ])('GET /v1/accounts rejects the query %j', async (query, parameter, detail) => {
    const { status, body } = await find(query as Record<string, string>);
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ parameter, detail })]]);
  });

  it('GET /v1/accounts reads few rows of many, also for the first letters of many names', async () => {
    const database = accounts.database;
    await database.query(
      `INSERT INTO accounts (id, email, email_key, name, password_hash, email_verified, version)
       SELECT gen_random_uuid(), 'bulk' || n || '@example.com', 'bulk' || n || '@example.com', 'Bulk ' || n, $1, true, 1
       FROM generate_series(1, 20000) AS n`,
      ['$argon2id$none'],
    );
    await database.query('ANALYZE accounts');
    const { rows } = await database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT id FROM accounts WHERE ${prefixCondition("'bulk1999'")} ORDER BY id DESC LIMIT 21`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    for (const index of ['accounts_name', 'accounts_email_key', 'accounts_mailbox_key']) expect(plan).toContain(index);
    const whole = await database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT id FROM accounts WHERE ${mailboxCondition("'bulk1999@example.com'")}`,
    );
    expect(whole.rows.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('Seq Scan');
    expect((await find({ q: 'bulk', limit: '100' })).body.items).toHaveLength(100);
  });
});

describe('a blocked account', () => {
  let holder: Holder;
  let refreshToken: string;

  beforeAll(async () => {
    holder = await register(accounts);
    refreshToken = await refreshTokenOf(accounts, holder);
    expect((await act(holder.id, 'block')).status).toBe(204);
  });

  it('a blocked account cannot log in, and only the correct password reveals the block', async () => {
    const { status, body } = await logIn(accounts, holder.email);
    expect([status, body.code, body.detail]).toEqual([
      403,
      'account-blocked',
      'This account is blocked. Contact the shop.',
    ]);
  });

  it('without the password, a blocked account cannot be distinguished from an unknown one', async () => {
    const [blocked, absent] = await Promise.all([
      logIn(accounts, holder.email, 'a wrong and dry desert'),
      logIn(accounts, freshEmail(), 'a wrong and dry desert'),
    ]);
    const shown = ({ status, headers, body: { instance: _, ...body } }: TestAnswer) => [
      status,
      headers['www-authenticate'],
      body,
    ];
    expect(shown(blocked)).toEqual(shown(absent));
    expect(blocked.status).toBe(401);
  });

  it('a blocked account cannot renew a log-in', async () => {
    expect((await refresh(accounts, refreshToken)).status).toBe(401);
  });

  it('a blocked account stays blocked after a password reset', async () => {
    await accounts.client.post('/v1/password-resets', { body: { email: holder.email } });
    const reset = { token: await emailTokenOf(accounts, holder.id, 'password-reset'), password: 'a new and deep lake' };
    expect((await accounts.client.post('/v1/password-resets/confirm', { body: reset })).status).toBe(204);
    expect((await logIn(accounts, holder.email, 'a new and deep lake')).status).toBe(403);
    expect((await logIn(accounts, holder.email)).status).toBe(401);
  });

  it('a blocked account is shown as blocked, since the first of several blocks', async () => {
    const since = (await find({ email: holder.email })).body.items[0]?.blocked_at;
    expect(since).toEqual(expect.any(String));
    expect((await act(holder.id, 'block', { reason: 'Again' })).status).toBe(204);
    expect((await find({ email: holder.email })).body.items[0]?.blocked_at).toBe(since);
  });

  it('a blocked account can log in after it was unblocked', async () => {
    expect((await act(holder.id, 'unblock')).status).toBe(204);
    expect((await logIn(accounts, holder.email, 'a new and deep lake')).status).toBe(200);
    expect((await find({ email: holder.email })).body.items[0]).not.toHaveProperty('blocked_at');
  });

  it('the audit log of a blocked account contains each step, with author and reason', async () => {
    const entries = await readAll(`/v1/accounts/${holder.id}/audit?limit=3`);
    expect(entries.map(({ action }) => action)).toEqual([
      'login-succeeded',
      'account-unblocked',
      'account-blocked',
      'login-failed',
      'login-blocked',
      'password-reset',
      'password-reset-requested',
      'login-failed',
      'login-blocked',
      'account-blocked',
      'login-succeeded',
      'verification-sent',
    ]);
    expect(entries[2]).toEqual({
      id: expect.any(String),
      created_at: expect.any(String),
      action: 'account-blocked',
      by: 'staff',
      staff_id: staffId,
      reason: 'Again',
      request_id: expect.any(String),
      detail: {},
    });
    expect(entries[0]).toMatchObject({ by: 'client' });
    expect(entries[0]).not.toHaveProperty('staff_id');
  });
});

it('a block and its end publish the account with a new version, and a repetition publishes nothing', async () => {
  const { id } = await register(accounts);
  for (const action of ['block', 'block', 'unblock', 'unblock'] as const)
    expect((await act(id, action)).status).toBe(204);
  const events = (await eventsOf(accounts, id)).map(({ type, sequence }) => [type, Number(sequence)]);
  expect(events).toEqual([
    ['account.registered.v1', 1],
    ['account.updated.v1', 2],
    ['account.updated.v1', 3],
  ]);
});

it('no log-in succeeds that races with the block', async () => {
  for (let round = 0; round < 10; round += 1) {
    const holder = await register(accounts);
    const first = await refreshTokenOf(accounts, holder);
    const [loggedIn, renewed, blocked] = await Promise.all([
      logIn(accounts, holder.email),
      refresh(accounts, first),
      act(holder.id, 'block'),
    ]);
    expect(blocked.status).toBe(204);
    expect([200, 403]).toContain(loggedIn.status);
    expect([200, 401]).toContain(renewed.status);
    for (const { status, body } of [loggedIn, renewed]) {
      if (status === 200) expect((await refresh(accounts, body.refresh_token)).status).toBe(401);
    }
  }
});

describe('POST /v1/accounts/{accountId}/end-sessions', () => {
  it('POST /v1/accounts/{accountId}/end-sessions revokes every session, counts them in the audit log, and allows new log-ins', async () => {
    const holder = await register(accounts);
    const tokens = [await refreshTokenOf(accounts, holder), await refreshTokenOf(accounts, holder)];
    expect((await act(holder.id, 'end-sessions')).status).toBe(204);
    for (const each of tokens) expect((await refresh(accounts, each)).status).toBe(401);
    expect((await logIn(accounts, holder.email)).status).toBe(200);
    expect(await auditOf(accounts, holder.id)).toContainEqual({ action: 'sessions-ended', detail: { sessions: 2 } });
  });
});

describe('POST /v1/accounts/{accountId}/send-password-reset', () => {
  it('POST /v1/accounts/{accountId}/send-password-reset sends an e-mail with a token that sets a new password', async () => {
    const { id, email } = await register(accounts);
    expect((await act(id, 'send-password-reset')).status).toBe(202);
    const reset = { token: await emailTokenOf(accounts, id, 'password-reset'), password: 'a new and deep lake' };
    expect((await accounts.client.post('/v1/password-resets/confirm', { body: reset })).status).toBe(204);
    expect((await logIn(accounts, email, 'a new and deep lake')).status).toBe(200);
  });

  it('POST /v1/accounts/{accountId}/send-password-reset has a separate limit of 5 an hour, which requests of other clients do not use up', async () => {
    const { id, email } = await register(accounts);
    for (let index = 0; index < 6; index += 1) await accounts.client.post('/v1/password-resets', { body: { email } });
    for (let index = 0; index < 5; index += 1) expect((await act(id, 'send-password-reset')).status).toBe(202);
    const { status, headers, body } = await act(id, 'send-password-reset');
    expect([status, body.code]).toEqual([429, 'too-many-requests']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(await countEmails(accounts, id, 'password-reset')).toBe(10);
  });
});

describe.each(actions)('POST /v1/accounts/{accountId}/%s', (action) => {
  it('a support action is rejected for an account of staff, and for the own account', async () => {
    const { id, email } = await register(accounts);
    const environment = { DATABASE_URL: accounts.services.database.urls.accounts };
    await grantScopes(environment, email, ['orders:fulfil']);
    const refused = await act(id, action);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      'This account has scopes of staff. Ask an operator, who uses the command line.',
    ]);
    const own = await register(accounts);
    const ownToken = await accounts.services.issuer.sign({ accountId: own.id, scopes: ['accounts:support'] });
    const { status, body } = await accounts.client.post(`${own.path}/${action}`, { token: ownToken, body: { reason } });
    expect([status, body.detail]).toEqual([403, 'This is your own account. Ask a colleague.']);
    for (const accountId of [id, own.id]) {
      const recorded = (await auditOf(accounts, accountId)).map((entry) => entry.action);
      expect(recorded).toEqual(accountId === id ? ['scopes-changed'] : []);
    }
    expect((await logIn(accounts, email)).status).toBe(200);
    expect((await find({ email })).body.items[0]).toMatchObject({ staff: true });
  });

  it('a support action is rejected without the scope, and for an account that does not exist', async () => {
    const holder = await register(accounts);
    const path = `${holder.path}/${action}`;
    const refused = await accounts.client.post(path, { token: holder.token, body: { reason } });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      403,
      expect.stringContaining('scope="accounts:support"'),
    ]);
    expect((await act(newId(), action)).status).toBe(404);
    expect((await act('me', action)).status).toBe(404);
  });

  it.each([
    [null, ''],
    [{}, '/reason'],
    [{ reason: '' }, '/reason'],
    [{ reason: ' \t ' }, '/reason'],
    [{ reason: 'one\nline' }, '/reason'],
    [{ reason: 'x'.repeat(501) }, '/reason'],
    [{ reason: 5 }, '/reason'],
    [{ reason, by: 'me' }, '/by'],
  ])('a support action rejects the body %j', async (body, pointer) => {
    const { id } = await register(accounts);
    const answer = await act(id, action, body);
    expect([answer.status, answer.body.errors.map((fault) => fault.pointer)]).toEqual([
      400,
      expect.arrayContaining([pointer]),
    ]);
    expect(await auditOf(accounts, id)).toEqual([]);
  });

  it('repeated support actions with one Idempotency-Key have one effect', async () => {
    const { id } = await register(accounts);
    const key = { 'Idempotency-Key': newId() };
    const [first, second] = [await act(id, action, { reason }, key), await act(id, action, { reason }, key)];
    expect([second.status, second.headers['idempotency-replayed']]).toEqual([first.status, 'true']);
    expect(await auditOf(accounts, id)).toHaveLength(1);
    expect((await act(id, action, { reason: 'Another' }, key)).status).toBe(422);
  });
});

describe('GET /v1/accounts/{accountId}/audit', () => {
  it('GET /v1/accounts/{accountId}/audit filters by action and time', async () => {
    const { id, email } = await register(accounts);
    await logIn(accounts, email, 'a wrong and dry desert');
    await logIn(accounts, email, password);
    const read = async (query: string) =>
      (await readAll(`/v1/accounts/${id}/audit?${query}`)).map(({ action }) => action);
    expect(await read('action=login-failed')).toEqual(['login-failed']);
    expect(await read('action=login-failed,verification-sent')).toEqual(['login-failed', 'verification-sent']);
    expect(await read('created_at=gte:2020-01-01T00:00:00Z')).toHaveLength(3);
    expect(await read('created_at=lt:2020-01-01T00:00:00Z')).toEqual([]);
  });

  it.each(['action=', 'created_at=yesterday', 'by=staff', 'limit=0', 'cursor=none'])(
    'GET /v1/accounts/{accountId}/audit rejects ?%s',
    async (query) => {
      const { id } = await register(accounts);
      expect((await accounts.client.get(`/v1/accounts/${id}/audit?${query}`, { token })).status).toBe(400);
    },
  );

  it('GET /v1/accounts/{accountId}/audit returns 404 for an account that never existed', async () => {
    expect((await accounts.client.get(`/v1/accounts/${newId()}/audit`, { token })).status).toBe(404);
  });

  it('GET /v1/accounts/{accountId}/audit is not permitted for the account owner', async () => {
    const { path, token: own } = await register(accounts);
    expect((await accounts.client.get(`${path}/audit`, { token: own })).status).toBe(403);
  });
});
