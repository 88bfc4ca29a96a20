// POST /v1/email-verifications and its resending
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  auditOf,
  countEmails,
  emailTokenOf,
  eventsOf,
  freshEmail,
  type Holder,
  password,
  register,
  startAccounts,
  type TestAccounts,
  verify,
} from './accounts.ts';

let accounts: TestAccounts;
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts.services.stop());
beforeEach(async () => {
  holder = await register(accounts);
});

const post = (token: string, headers: Record<string, string> = {}) =>
  accounts.client.post('/v1/email-verifications', { body: { token }, headers });
const resend = (token = holder.token) => accounts.client.post('/v1/email-verifications/resend', { token });
const read = async () => (await accounts.client.get(holder.path, { token: holder.token })).body;
const sent = () => emailTokenOf(accounts, holder.id, 'email-verification');

describe('204', () => {
  it('POST /v1/email-verifications verifies the address of a registration, as the next version of the account', async () => {
    expect(await read()).toMatchObject({ email_verified: false });
    const answer = await post(await sent());
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await read()).toMatchObject({ email: holder.email, email_verified: true });
    const [, verified] = await eventsOf(accounts, holder.id);
    expect(verified).toMatchObject({ type: 'account.updated.v1', sequence: '2', data: { emailVerified: true } });
    expect(verified?.data).not.toHaveProperty('credentialsChanged');
    expect(await auditOf(accounts, holder.id)).toContainEqual({
      action: 'email-verified',
      detail: { email: holder.email, by: 'holder' },
    });
  });

  it('a retry of a verification with the same Idempotency-Key returns 204 again', async () => {
    const token = await sent();
    const headers = { 'Idempotency-Key': `verify-${holder.id}` };
    expect((await post(token, headers)).status).toBe(204);
    const again = await post(token, headers);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([204, 'true']);
    expect(await eventsOf(accounts, holder.id)).toHaveLength(2);
  });

  it('one of many concurrent requests with one verification token returns 204', async () => {
    const token = await sent();
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(400)]);
    expect(await eventsOf(accounts, holder.id)).toHaveLength(2);
  });

  it('POST /v1/email-verifications leaves the account with one of the two addresses when a change races with the older verification', async () => {
    const token = await sent();
    const email = freshEmail();
    const change = accounts.client.patch(holder.path, { token: holder.token, body: { email } });
    const [changed, older] = await Promise.all([change, post(token)]);
    expect(changed.status).toBe(200);
    expect([204, 400]).toContain(older.status);
    expect(await read()).toMatchObject({
      email: holder.email,
      email_verified: older.status === 204,
      pending_email: email,
    });
    expect((await verify(accounts, holder.id)).status).toBe(204);
    expect(await read()).toMatchObject({ email, email_verified: true });
  });
});

describe('400', () => {
  it('POST /v1/email-verifications returns the same 400 for an unknown, used, expired or replaced token, and for a token of another purpose', async () => {
    const headers = { 'X-Request-Id': 'the-same' };
    const used = await sent();
    await post(used);
    const expired = await register(accounts);
    const late = await emailTokenOf(accounts, expired.id, 'email-verification');
    await accounts.database.query('UPDATE email_tokens SET expires_at = now() WHERE account_id = $1', [expired.id]);
    const other = await register(accounts);
    const replaced = await emailTokenOf(accounts, other.id, 'email-verification');
    await resend(other.token);
    await accounts.client.post('/v1/password-resets', { body: { email: other.email } });
    const reset = await emailTokenOf(accounts, other.id, 'password-reset');
    const answers = await Promise.all(['none', used, late, replaced, reset].map((token) => post(token, headers)));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.body.code).toBe('invalid-token');
    const { rows } = await accounts.database.query(
      "SELECT detail FROM audit_log WHERE action = 'email-token-refused' AND request_id = 'the-same'",
    );
    expect(rows).toEqual(Array(5).fill({ detail: { purpose: 'email-verification' } }));
  });

  it.each([{}, { token: '' }, { token: 1 }, { token: 'x'.repeat(129) }, { token: 'x', email: 'y' }])(
    'POST /v1/email-verifications returns 400 for the body %j',
    async (body) => {
      const answer = await accounts.client.post('/v1/email-verifications', { body });
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid-request']);
    },
  );
});

describe('409', () => {
  it('POST /v1/email-verifications returns 409 for an address that another account has registered meanwhile, and leaves the account as it was', async () => {
    const email = freshEmail();
    await accounts.client.patch(holder.path, { token: holder.token, body: { email } });
    const taken = await accounts.client.post('/v1/accounts', { body: { email, name: 'Quick', password } });
    expect(taken.status).toBe(201);
    const answer = await verify(accounts, holder.id);
    expect([answer.status, answer.body.code]).toEqual([409, 'email-already-registered']);
    expect(await read()).toMatchObject({ email: holder.email, pending_email: email });
  });
});

describe('the token', () => {
  it('the verification token is not stored in plain text: neither in the database, nor in its events, nor in the log', async () => {
    const token = await sent();
    await post(token);
    const { rows } = await accounts.database.query<{ row: string }>(
      `SELECT outbox::text AS row FROM outbox UNION ALL SELECT email_tokens::text FROM email_tokens
       UNION ALL SELECT audit_log::text FROM audit_log UNION ALL SELECT idempotency_keys::text FROM idempotency_keys`,
    );
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter(({ row }) => row.includes(token))).toEqual([]);
    expect(accounts.services.service('accounts').output()).not.toContain(token);
  });
});

describe('202 for the resending', () => {
  it('POST /v1/email-verifications/resend replaces the token', async () => {
    const first = await sent();
    const answer = await resend();
    expect([answer.status, answer.text]).toEqual([202, '']);
    expect((await post(first)).status).toBe(400);
    expect((await post(await sent())).status).toBe(204);
  });

  it('POST /v1/email-verifications/resend replaces the token of a change that only spells the address of the account in another way', async () => {
    const email = holder.email.toUpperCase();
    await accounts.client.patch(holder.path, { token: holder.token, body: { email } });
    expect((await resend()).status).toBe(202);
    expect((await verify(accounts, holder.id)).status).toBe(204);
    expect(await read()).toMatchObject({ email, email_verified: true });
  });

  it('POST /v1/email-verifications/resend sends nothing when the address is verified and no change is pending', async () => {
    await verify(accounts, holder.id);
    expect((await resend()).status).toBe(202);
    expect(await countEmails(accounts, holder.id, 'email-verification')).toBe(1);
  });
});

describe('refusals of the resending', () => {
  it('POST /v1/email-verifications/resend returns 401 without a token, and 404 without an account', async () => {
    expect((await accounts.client.post('/v1/email-verifications/resend', {})).status).toBe(401);
    expect((await resend(await accounts.services.issuer.sign())).status).toBe(404);
  });

  it('POST /v1/email-verifications/resend returns 409 when another account has registered the new address meanwhile, and sends nothing', async () => {
    const email = freshEmail();
    await accounts.client.patch(holder.path, { token: holder.token, body: { email: email.toUpperCase() } });
    const taken = await accounts.client.post('/v1/accounts', { body: { email, name: 'Quick', password } });
    expect(taken.status).toBe(201);
    const answer = await resend();
    expect([answer.status, answer.body.code]).toEqual([409, 'email-already-registered']);
    expect(answer.body).not.toHaveProperty('errors');
    expect(await countEmails(accounts, holder.id, 'email-verification')).toBe(2);
  });

  it('POST /v1/email-verifications/resend returns 429 after 5 e-mails in an hour, also for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => resend()));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 429, 429, 429, 429]);
    expect(await countEmails(accounts, holder.id, 'email-verification')).toBe(5);
  });
});
