// POST /v1/password-resets and /v1/password-resets/confirm
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { atThisPace } from '@shop/shared/testing';
import {
  auditOf,
  countEmails,
  emailTokenOf,
  eventsOf,
  freshEmail,
  type Holder,
  logIn,
  refresh,
  refreshTokenOf,
  register,
  startAccounts,
  type TestAccounts,
} from './accounts.ts';

let accounts: TestAccounts;
let holder: Holder;
const newPassword = 'a short and loud brook';

beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts.services.stop());
beforeEach(async () => {
  holder = await register(accounts);
});

const ask = (email = holder.email) => accounts.client.post('/v1/password-resets', { body: { email } });
const confirm = (token: string, password = newPassword, headers: Record<string, string> = {}) =>
  accounts.client.post('/v1/password-resets/confirm', { body: { token, password }, headers });
const sent = () => emailTokenOf(accounts, holder.id, 'password-reset');

describe('202', () => {
  it('POST /v1/password-resets returns 202 for every address, in any spelling', async () => {
    const headers = { 'X-Request-Id': 'the-same' };
    const answers = await Promise.all(
      [holder.email, ` ${holder.email.toUpperCase()}`, freshEmail(), 'no address'].map((email) =>
        accounts.client.post('/v1/password-resets', { body: { email }, headers }),
      ),
    );
    expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(4).fill([202, '']));
    expect(await countEmails(accounts, holder.id, 'password-reset')).toBe(2);
    const { rows } = await accounts.database.query(
      "SELECT account_id FROM audit_log WHERE action = 'password-reset-requested' AND request_id = 'the-same'",
    );
    expect(rows.filter((row) => row.account_id === null)).toHaveLength(2);
  });

  it('POST /v1/password-resets takes the same time whether or not the account exists', async () => {
    const time = async (email: string): Promise<number> => {
      const start = performance.now();
      await ask(email);
      return performance.now() - start;
    };
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
    for (let round = 0; round < 12; round += 1) {
      const { email } = await register(accounts);
      times.known.push(await time(email));
      times.unknown.push(await time(freshEmail()));
    }
    const median = (values: number[]): number => values.sort((a, b) => a - b)[6] ?? 0;
    const [known, unknown] = [median(times.known), median(times.unknown)];
    expect(Math.min(known, unknown)).toBeGreaterThanOrEqual(295);
    expect(Math.abs(known - unknown)).toBeLessThan(atThisPace(30));
  });

  it('POST /v1/password-resets replaces the previous token, and does not replace it after 5 e-mails in an hour', async () => {
    await ask();
    const first = await sent();
    for (let more = 0; more < 6; more += 1) expect((await ask()).status).toBe(202);
    expect(await countEmails(accounts, holder.id, 'password-reset')).toBe(5);
    expect((await confirm(first)).status).toBe(400);
    expect((await confirm(await sent())).status).toBe(204);
  });

  it('POST /v1/password-resets sends an e-mail again an hour after the first of 5, also when requests without one came in between', async () => {
    const count = () => countEmails(accounts, holder.id, 'password-reset');
    for (let each = 0; each < 10; each += 1) expect((await ask()).status).toBe(202);
    expect(await count()).toBe(5);
    const ages = await accounts.database.query(
      `UPDATE audit_log SET created_at = created_at - interval '61 minutes'
       WHERE account_id = $1 AND action = 'password-reset-requested'`,
      [holder.id],
    );
    expect(ages.rowCount).toBe(5);
    expect((await ask()).status).toBe(202);
    expect(await count()).toBe(6);
  });
});

describe('204', () => {
  it('a password reset sets the password, revokes every session, verifies the address and notifies the account owner', async () => {
    const session = await refreshTokenOf(accounts, holder);
    await accounts.client.patch(holder.path, { token: holder.token, body: { email: freshEmail() } });
    await ask();
    const answer = await confirm(await sent());
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await logIn(accounts, holder.email)).status).toBe(401);
    expect((await logIn(accounts, holder.email, newPassword)).status).toBe(200);
    expect((await refresh(accounts, session)).status).toBe(401);
    const { body } = await accounts.client.get(holder.path, { token: holder.token });
    expect(body).toEqual({ id: holder.id, email: holder.email, email_verified: true, name: 'Kim Park' });
    const event = (await eventsOf(accounts, holder.id)).at(-1);
    expect(event?.data).toMatchObject({ credentialsChanged: ['password'], emailVerified: true });
    expect(await auditOf(accounts, holder.id)).toContainEqual({ action: 'password-reset', detail: {} });
    const stale = await accounts.client.patch(holder.path, { token: holder.token, body: { email: freshEmail() } });
    expect(stale.body.code).toBe('reauthentication-required');
  });

  it('one of many concurrent requests with one token of a password reset returns 204', async () => {
    await ask();
    const token = await sent();
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => confirm(token, `the new one ${n}`)));
    const statuses = answers.map(({ status }) => status);
    expect([...statuses].sort()).toEqual([204, 400, 400, 400, 400]);
    expect((await logIn(accounts, holder.email, `the new one ${statuses.indexOf(204) + 1}`)).status).toBe(200);
  });

  it('a retry of a password reset with the same Idempotency-Key returns 204 again', async () => {
    await ask();
    const token = await sent();
    const headers = { 'Idempotency-Key': `reset-${holder.id}` };
    expect((await confirm(token, newPassword, headers)).status).toBe(204);
    expect((await confirm(token, newPassword, headers)).headers['idempotency-replayed']).toBe('true');
    expect((await confirm(token, 'quite another one', headers)).status).toBe(422);
  });

  it('a password reset leaves no session of a log-in with the old password that runs at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { email, id } = await register(accounts);
      await ask(email);
      const token = await emailTokenOf(accounts, id, 'password-reset');
      const [reset, ...logIns] = await Promise.all([
        confirm(token),
        ...Array.from({ length: 4 }, () => logIn(accounts, email)),
      ]);
      expect(reset.status).toBe(204);
      for (const { status, body } of logIns) {
        expect([200, 401]).toContain(status);
        if (status === 200) expect((await refresh(accounts, body.refresh_token)).status).toBe(401);
      }
    }
  });
});

describe('400', () => {
  it('a password reset returns the same 400 for an unknown, a used and an expired token', async () => {
    await ask();
    const used = await sent();
    await confirm(used);
    await ask();
    const late = await sent();
    await accounts.database.query('UPDATE email_tokens SET expires_at = now() WHERE account_id = $1', [holder.id]);
    const headers = { 'X-Request-Id': 'the-same' };
    const answers = await Promise.all(['none', used, late].map((token) => confirm(token, newPassword, headers)));
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([400, 'invalid-token']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('a password reset lists a missing address, token and password', async () => {
    expect((await accounts.client.post('/v1/password-resets', { body: {} })).status).toBe(400);
    expect((await accounts.client.post('/v1/password-resets/confirm', { body: {} })).body.errors).toHaveLength(2);
  });

  it('a password reset returns 400 for the token after the address was changed', async () => {
    await ask();
    const token = await sent();
    await accounts.client.patch(holder.path, { token: holder.token, body: { email: freshEmail() } });
    const verification = await emailTokenOf(accounts, holder.id, 'email-verification');
    await accounts.client.post('/v1/email-verifications', { body: { token: verification } });
    expect((await confirm(token)).status).toBe(400);
  });
});

describe('422', () => {
  it('a password reset returns 422 for a common password and keeps the token', async () => {
    await ask();
    const token = await sent();
    const answer = await confirm(token, 'Iloveyou');
    expect([answer.status, answer.body.code]).toEqual([422, 'password-too-common']);
    expect((await confirm(token)).status).toBe(204);
  });
});
