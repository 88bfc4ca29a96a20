// What withdraws a pending erasure, which addresses get the notices about it, and erasures without a delay.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { blockAsOperator, eraseAsOperator, verifyEmailAsOperator } from '../src/operator/index.ts';
import {
  auditOf,
  countEmails,
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
  verify,
} from './accounts.ts';
import { codeOf, holderActions, recovered } from './holder-actions.ts';

let accounts: TestAccounts;
/** An account with a verified address. */
let holder: Holder;

beforeAll(async () => {
  accounts = await startAccounts({ shared: false });
});
afterAll(() => accounts.services.stop());
beforeEach(async () => {
  holder = await register(accounts);
  await verify(accounts, holder.id);
});

const { environment, post, patch, read, erase, changeTo, undo, confirmReset, reset } = holderActions(
  () => accounts,
  () => holder,
);
/** Sets the time of the erasure, in hours from now. */
const eraseIn = (hours: number, { id } = holder) =>
  accounts.database.query("UPDATE accounts SET erase_at = now() + $2 * interval '1 hour' WHERE id = $1", [id, hours]);
const withdrawals = async ({ id } = holder) =>
  (await auditOf(accounts, id)).filter(({ action }) => action === 'erasure-withdrawn').length;

describe('a pending erasure', () => {
  it.each<[string, () => Promise<TestAnswer>]>([
    ['a password reset', () => reset(holder.email)],
    ['a new password', () => patch({ password: recovered, current_password: password })],
  ])('a pending erasure is withdrawn by %s, and recorded', async (_, prove) => {
    expect((await erase()).body.erase_at).toEqual(expect.any(String));
    expect([200, 204]).toContain((await prove()).status);
    expect((await read()).erase_at).toBeUndefined();
    expect(await withdrawals()).toBe(1);
  });

  it('a pending erasure of a thief who has changed the address is withdrawn when the change is undone', async () => {
    await changeTo(freshEmail());
    expect((await erase()).status).toBe(202);
    expect((await undo()).status).toBe(204);
    const { email, erase_at } = await read();
    expect([email, erase_at]).toEqual([holder.email, undefined]);
    expect(await withdrawals()).toBe(1);
  });

  it('a pending erasure of an account with an unverified address is withdrawn by the first verification, also by that of an operator', async () => {
    const [byToken, byOperator] = [await register(accounts), await register(accounts)];
    for (const account of [byToken, byOperator]) await eraseIn(48, account);
    expect((await verify(accounts, byToken.id)).status).toBe(204);
    await verifyEmailAsOperator(environment(), byOperator.email);
    for (const account of [byToken, byOperator]) {
      expect((await read(account)).erase_at).toBeUndefined();
      expect(await withdrawals(account)).toBe(1);
    }
  });

  it('a pending erasure of an operator is withdrawn by the same proofs', async () => {
    await eraseAsOperator(environment(), holder.id, 7);
    expect((await reset(holder.email)).status).toBe(204);
    expect((await read()).erase_at).toBeUndefined();
  });

  it('a pending erasure is withdrawn by a block, because the person who is blocked may have requested it', async () => {
    await erase();
    await blockAsOperator(environment(), holder.id, 'the holder called');
    const { rows } = await accounts.database.query('SELECT erase_at FROM accounts WHERE id = $1', [holder.id]);
    expect(rows).toEqual([{ erase_at: null }]);
    expect(await withdrawals()).toBe(1);
  });

  it('a pending erasure that is due is not withdrawn by a block', async () => {
    await erase();
    await eraseIn(-0.01);
    await blockAsOperator(environment(), holder.id, 'the holder called');
    expect(await withdrawals()).toBe(0);
  });

  it('a pending erasure of a blocked account is withdrawn by a password reset, and the account stays blocked', async () => {
    await blockAsOperator(environment(), holder.id, 'the holder called');
    await eraseAsOperator(environment(), holder.id, 7);
    expect((await reset(holder.email)).status).toBe(204);
    expect((await read()).erase_at).toBeUndefined();
    expect(codeOf(await logIn(accounts, holder.email, recovered))).toEqual([403, 'account-blocked']);
  });

  it('a new name or a new address does not withdraw a pending erasure, because neither proves the identity of the account owner', async () => {
    await erase();
    expect((await patch({ name: 'Kim Lee' })).status).toBe(200);
    await changeTo(freshEmail());
    expect((await read()).erase_at).toEqual(expect.any(String));
    expect(await withdrawals()).toBe(0);
  });

  it('a due erasure is final: tokens are rejected, no reset is sent, and the password cannot be changed', async () => {
    await changeTo(freshEmail());
    const { email } = await read();
    await post('/v1/password-resets', { email });
    await eraseIn(-0.01);
    expect(codeOf(await confirmReset())).toEqual([400, 'invalid-token']);
    expect(codeOf(await undo())).toEqual([400, 'invalid-token']);
    await eraseIn(-0.01, holder);
    expect((await patch({ password: recovered, current_password: password })).status).toBe(404);
    expect((await post('/v1/password-resets', { email })).status).toBe(202);
    expect(await countEmails(accounts, holder.id, 'password-reset')).toBe(1);
    expect(await withdrawals()).toBe(0);
  });

  it('no pending erasure remains after a password reset that runs concurrently with requests for erasure', async () => {
    for (let round = 0; round < 5; round += 1) {
      const victim = await register(accounts);
      await verify(accounts, victim.id);
      await post('/v1/password-resets', { email: victim.email });
      const answers = await Promise.all([erase(victim), confirmReset(victim), erase(victim)]);
      expect(answers[1].status).toBe(204);
      expect((await read(victim)).erase_at).toBeUndefined();
    }
  });
});

describe('the erasure of an account that never had a verified address', () => {
  it('an account that never had a verified address is erased immediately: log-ins fail, sessions end, e-mails are cancelled', async () => {
    const stranger = await register(accounts);
    const session = await refreshTokenOf(accounts, stranger);
    const { status, body } = await erase(stranger);
    expect(status).toBe(202);
    expect(Date.parse(String(body.erase_at))).toBeLessThanOrEqual(Date.now());
    expect((await logIn(accounts, stranger.email)).status).toBe(401);
    expect((await refresh(accounts, session)).status).toBe(401);
    const { rows } = await accounts.database.query('SELECT FROM refresh_families WHERE account_id = $1', [stranger.id]);
    expect(rows).toEqual([]);
    const event = (await eventsOf(accounts, stranger.id)).at(-1)?.data;
    expect(event).toMatchObject({ emailVerified: false, eraseAt: body.erase_at });
    expect((await accounts.client.call('DELETE', '/v1/accounts/me/erase', stranger)).status).toBe(404);
    expect(codeOf(await verify(accounts, stranger.id))).toEqual([400, 'invalid-token']);
  });

  it('the erasure of an unverified account cancels the e-mails to its address, which can belong to another account', async () => {
    const stranger = await register(accounts);
    await erase(stranger);
    const resent = await accounts.client.call('POST', '/v1/email-verifications/resend', { token: stranger.token });
    expect([resent.status, await countEmails(accounts, stranger.id, 'email-verification')]).toEqual([404, 1]);
  });

  it('the erasure frees an unverified address, so that its owner can register it', async () => {
    const stranger = await register(accounts);
    await erase(stranger);
    const { email } = stranger;
    expect((await post('/v1/accounts', { email, name: 'Kim Park', password: recovered })).status).toBe(201);
    expect((await logIn(accounts, email, recovered)).status).toBe(200);
    expect((await logIn(accounts, email)).status).toBe(401);
  });
});

describe('the notice about an erasure', () => {
  const notices = async () =>
    (await eventsOf(accounts, holder.id))
      .filter(({ data }) => data.eraseAt !== undefined)
      .map(({ data: { email, formerEmails, erasureReminder } }) => ({ email, formerEmails, erasureReminder }));

  it('the notice about an erasure names each other address that was verified in the last 7 days, once', async () => {
    const [second, third] = [freshEmail(), freshEmail()];
    await changeTo(second);
    await patch({ email: third, current_password: password });
    await patch({ email: freshEmail(), current_password: password });
    await patch({ email: second, current_password: password });
    await changeTo(third);
    await erase();
    expect(await notices()).toEqual([{ email: third, formerEmails: [holder.email, second] }]);
  });

  it('the notice about an erasure names no other address without one in the last 7 days', async () => {
    await changeTo(freshEmail());
    await accounts.database.query("UPDATE email_tokens SET expires_at = now() - interval '1 s' WHERE account_id = $1", [
      holder.id,
    ]);
    const { email } = await read();
    await erase();
    expect(await notices()).toEqual([{ email }]);
  });

  it('the notice about an erasure is repeated once a day before the erasure, to the addresses of that time, also after a restart', async () => {
    await erase();
    const email = freshEmail();
    await changeTo(email);
    await eraseIn(25);
    const early = await register(accounts);
    await verify(accounts, early.id);
    await eraseIn(23, early);
    const remindersOf = async ({ id }: Holder) =>
      (await eventsOf(accounts, id)).filter(({ data }) => data.erasureReminder === true);
    await eventually(async () => expect(await remindersOf(early)).toHaveLength(1), 30_000);
    expect(await remindersOf(holder)).toEqual([]);
    await eraseIn(23.9);
    await eventually(async () => expect(await remindersOf(holder)).toHaveLength(1), 30_000);
    expect((await notices()).at(-1)).toEqual({ email, formerEmails: [holder.email], erasureReminder: true });
    await accounts.services.service('accounts').kill('SIGKILL');
    await accounts.services.service('accounts').restart();
    const last = await register(accounts);
    await verify(accounts, last.id);
    await eraseIn(23, last);
    await eventually(async () => expect(await remindersOf(last)).toHaveLength(1), 30_000);
    expect(await remindersOf(holder)).toHaveLength(1);
    expect(await remindersOf(early)).toHaveLength(1);
  });

  it('the notice about an erasure is not repeated when an operator leaves at most a day', async () => {
    await eraseAsOperator(environment(), holder.id, 1);
    await eraseIn(0.9, await register(accounts));
    const other = await register(accounts);
    await eraseIn(0.9, other);
    await eventually(async () => expect((await eventsOf(accounts, other.id)).length).toBe(2), 30_000);
    expect(await notices()).toEqual([{ email: holder.email }]);
  });
});
