// POST /v1/email-verifications/undo
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  auditOf,
  emailTokenOf,
  freshEmail,
  type Holder,
  logIn,
  password,
  refresh,
  refreshTokenOf,
  register,
  startAccounts,
  type TestAccounts,
  verify,
} from './accounts.ts';
import { holderActions } from './holder-actions.ts';

let accounts: TestAccounts;
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts();
});
afterAll(() => accounts.services.stop());
beforeEach(async () => {
  holder = await register(accounts);
  await verify(accounts, holder.id);
});

const { undo, read } = holderActions(
  () => accounts,
  () => holder,
);
const sent = () => emailTokenOf(accounts, holder.id, 'email-change-undo');
const change = (email: string) =>
  accounts.client.patch(holder.path, { token: holder.token, body: { email, current_password: password } });

describe('204', () => {
  it('POST /v1/email-verifications/undo withdraws a change that is not verified, and ends every session', async () => {
    await change(freshEmail());
    const verification = await emailTokenOf(accounts, holder.id, 'email-verification');
    const session = await refreshTokenOf(accounts, holder);
    expect((await undo(await sent())).status).toBe(204);
    expect(await read()).toEqual({ id: holder.id, email: holder.email, email_verified: true, name: 'Kim Park' });
    const late = await accounts.client.post('/v1/email-verifications', { body: { token: verification } });
    expect(late.status).toBe(400);
    expect((await refresh(accounts, session)).status).toBe(401);
  });

  it('POST /v1/email-verifications/undo restores the previous address of a change that took effect', async () => {
    const email = freshEmail();
    await change(email);
    await verify(accounts, holder.id);
    await accounts.client.post('/v1/password-resets', { body: { email } });
    const reset = await emailTokenOf(accounts, holder.id, 'password-reset');
    expect((await undo(await sent())).status).toBe(204);
    expect(await read()).toMatchObject({ email: holder.email, email_verified: true });
    expect((await logIn(accounts, holder.email)).status).toBe(200);
    const stolen = { token: reset, password: 'the thief knows this one' };
    expect((await accounts.client.post('/v1/password-resets/confirm', { body: stolen })).status).toBe(400);
    expect(await auditOf(accounts, holder.id)).toContainEqual({
      action: 'email-change-undone',
      detail: { from: email, to: holder.email, passwordVoided: false },
    });
  });

  it('undoing a change voids the tokens of later changes, so that no later owner of an address can undo it', async () => {
    await change(freshEmail());
    const first = await sent();
    await verify(accounts, holder.id);
    await change(freshEmail());
    const second = await sent();
    await verify(accounts, holder.id);
    expect((await undo(first)).status).toBe(204);
    expect((await undo(second)).status).toBe(400);
    expect((await read()).email).toBe(holder.email);
  });

  it('the token that undoes a change is valid for 7 days after the change took effect', async () => {
    await change(freshEmail());
    await accounts.database.query(
      `UPDATE email_tokens SET expires_at = now() + interval '1 minute'
       WHERE account_id = $1 AND purpose = 'email-change-undo'`,
      [holder.id],
    );
    await verify(accounts, holder.id);
    const { rows } = await accounts.database.query<{ days: number }>(
      `SELECT round(extract(epoch FROM expires_at - now()) / 86400)::int AS days FROM email_tokens
       WHERE account_id = $1`,
      [holder.id],
    );
    expect(rows).toEqual([{ days: 7 }]);
  });

  it('a change can be undone for 7 days after it took effect, also when the token of its request had expired', async () => {
    await change(freshEmail());
    const { token } = holder;
    await accounts.database.query(
      "UPDATE email_tokens SET expires_at = now() - interval '1 day' WHERE account_id = $1",
      [holder.id],
    );
    const first = await sent();
    expect((await accounts.client.post('/v1/email-verifications/resend', { token })).status).toBe(202);
    await verify(accounts, holder.id);
    const second = await sent();
    expect(second).not.toBe(first);
    expect((await undo(second)).status).toBe(204);
    expect((await logIn(accounts, holder.email)).status).toBe(200);
  });
});

describe('400', () => {
  it('POST /v1/email-verifications/undo returns 400 for an unknown and a used token equally', async () => {
    await change(freshEmail());
    const token = await sent();
    const answers = await Promise.all([undo(token), undo(token), undo(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
    expect((await undo('none')).body.code).toBe('invalid-token');
  });
});

describe('409', () => {
  it('POST /v1/email-verifications/undo returns 409 for an address that another account registered with the previous release', async () => {
    await change(freshEmail());
    await verify(accounts, holder.id);
    const { id } = await register(accounts);
    await accounts.database.query('UPDATE accounts SET email = $2, email_key = $2 WHERE id = $1', [id, holder.email]);
    const answer = await undo(await sent());
    expect([answer.status, answer.body.code]).toEqual([409, 'email-already-registered']);
  });
});
