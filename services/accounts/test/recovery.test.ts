// A thief changes the address or the password of an account. Its holder takes it back, and nothing of the thief is left.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { blockAsOperator, unblockAsOperator } from '../src/operator/index.ts';
import {
  auditOf,
  emailTokenOf,
  freshEmail,
  type Holder,
  logIn,
  password,
  register,
  startAccounts,
  type TestAccounts,
  verify,
} from './accounts.ts';
import { codeOf, holderActions, recovered } from './holder-actions.ts';

let accounts: TestAccounts;
/** An account with a verified address. */
let holder: Holder;
const stolen = 'the thief knows this one';

beforeAll(async () => {
  accounts = await startAccounts();
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

describe('an address whose change can still be undone', () => {
  it('an address with a change that can be undone belongs to its account, and other accounts cannot register it', async () => {
    await changeTo(freshEmail());
    const other = await register(accounts);
    for (const email of [holder.email, ` ${holder.email.toUpperCase()} `]) {
      const registration = { email, name: 'Next', password };
      expect(codeOf(await post('/v1/accounts', registration))).toEqual([409, 'email-already-registered']);
      expect(codeOf(await patch({ email, current_password: password }, other))).toEqual([
        409,
        'email-already-registered',
      ]);
    }
    expect((await undo()).status).toBe(204);
    expect((await logIn(accounts, holder.email)).status).toBe(200);
  });

  it('a change that was requested earlier cannot take an address that can be restored', async () => {
    const other = await register(accounts);
    const { token } = other;
    await changeTo(freshEmail());
    await accounts.database.query('UPDATE accounts SET pending_email = $2 WHERE id = $1', [other.id, holder.email]);
    await accounts.database.query(
      "UPDATE email_tokens SET email = $2 WHERE account_id = $1 AND purpose = 'email-verification'",
      [other.id, holder.email],
    );
    expect(codeOf(await verify(accounts, other.id))).toEqual([409, 'email-already-registered']);
    const resent = await accounts.client.post('/v1/email-verifications/resend', { token });
    expect(codeOf(resent)).toEqual([409, 'email-already-registered']);
    expect((await undo()).status).toBe(204);
  });

  it('an address that can be restored stays with its account although it is registered when the change takes effect', async () => {
    for (let round = 0; round < 5; round += 1) {
      holder = await register(accounts);
      await verify(accounts, holder.id);
      await patch({ email: freshEmail(), current_password: password });
      // The token of the request has expired, so the one that undoes the change is made when the change takes effect.
      await accounts.database.query(
        "UPDATE email_tokens SET expires_at = now() WHERE account_id = $1 AND purpose = 'email-change-undo'",
        [holder.id],
      );
      const registration = () => post('/v1/accounts', { email: holder.email, name: 'Next', password });
      const [verified, ...registrations] = await Promise.all([
        verify(accounts, holder.id),
        ...[1, 2, 3].map(registration),
      ]);
      expect(verified.status).toBe(204);
      expect(registrations.map(({ status }) => status)).toEqual([409, 409, 409]);
      expect((await undo()).status).toBe(204);
    }
  });

  it('an address belongs to its account also when the previous release created the token that restores it', async () => {
    await changeTo(freshEmail());
    await accounts.database.query('UPDATE email_tokens SET email_key = NULL WHERE account_id = $1', [holder.id]);
    const email = holder.email.toUpperCase();
    expect((await post('/v1/accounts', { email, name: 'Next', password })).status).toBe(409);
    expect((await post('/v1/accounts', { email: freshEmail(), name: 'Next', password })).status).toBe(201);
  });

  it('an address can be registered when the change can no longer be undone', async () => {
    await changeTo(freshEmail());
    await accounts.database.query('UPDATE email_tokens SET expires_at = now() WHERE account_id = $1', [holder.id]);
    expect((await post('/v1/accounts', { email: holder.email, name: 'Next', password })).status).toBe(201);
  });

  it('a verified change back to an address has the effect of undoing: later addresses cannot undo it', async () => {
    const email = freshEmail();
    await changeTo(email);
    await patch({ email: holder.email, current_password: password });
    const ofThief = await emailTokenOf(accounts, holder.id, 'email-change-undo');
    expect((await verify(accounts, holder.id)).status).toBe(204);
    expect(codeOf(await undo(ofThief))).toEqual([400, 'invalid-token']);
    expect((await read()).email).toBe(holder.email);
    expect((await post('/v1/accounts', { email, name: 'Next', password })).status).toBe(201);
  });
});

describe('undoing a change of the address', () => {
  const setsNewPassword = async () => {
    expect((await confirmReset()).status).toBe(204);
    expect((await logIn(accounts, holder.email, recovered)).status).toBe(200);
  };

  it('undoing a change of the address voids a password that was set after the change, and sends a reset to the restored address', async () => {
    const email = freshEmail();
    await changeTo(email);
    expect((await reset(email, holder, stolen)).status).toBe(204);
    expect((await undo()).status).toBe(204);
    for (const secret of [stolen, password]) expect((await logIn(accounts, holder.email, secret)).status).toBe(401);
    expect(await auditOf(accounts, holder.id)).toContainEqual({
      action: 'email-change-undone',
      detail: { from: email, to: holder.email, passwordVoided: true },
    });
    await setsNewPassword();
  });

  it('undoing a change of the address voids a password that was set together with the new address, before it is verified', async () => {
    await patch({ email: freshEmail(), password: stolen, current_password: password });
    expect((await undo()).status).toBe(204);
    expect((await logIn(accounts, holder.email, stolen)).status).toBe(401);
    await setsNewPassword();
  });

  it('undoing a change of the address voids a password that was set in the days before the change, and no older one', async () => {
    await patch({ password: stolen, current_password: password });
    await patch({ email: freshEmail(), current_password: stolen });
    await accounts.database.query(
      "UPDATE audit_log SET created_at = now() - interval '6 days' WHERE account_id = $1 AND action = 'password-changed'",
      [holder.id],
    );
    expect((await undo()).status).toBe(204);
    expect((await logIn(accounts, holder.email, stolen)).status).toBe(401);
    await setsNewPassword();
    await accounts.database.query(
      "UPDATE audit_log SET created_at = now() - interval '8 days' WHERE account_id = $1 AND action LIKE 'password-%'",
      [holder.id],
    );
    await patch({ email: freshEmail(), current_password: recovered });
    expect((await undo()).status).toBe(204);
    expect((await logIn(accounts, holder.email, recovered)).status).toBe(200);
  });

  it('undoing a change of the address retains an older password, and still sends the reset', async () => {
    const email = freshEmail();
    await changeTo(email);
    for (let each = 0; each < 6; each += 1) await post('/v1/password-resets', { email });
    expect((await undo()).status).toBe(204);
    expect((await logIn(accounts, holder.email)).status).toBe(200);
    await setsNewPassword();
  });
});

describe('a blocked account', () => {
  it('a blocked account does not get the new address of a change, until it is unblocked', async () => {
    const email = freshEmail();
    await patch({ email, current_password: password });
    await blockAsOperator(environment(), holder.id, 'the holder called');
    expect(codeOf(await verify(accounts, holder.id))).toEqual([403, 'account-blocked']);
    expect(await read()).toMatchObject({ email: holder.email, pending_email: email });
    await unblockAsOperator(environment(), holder.id, 'it was the holder');
    expect((await verify(accounts, holder.id)).status).toBe(204);
    expect((await read()).email).toBe(email);
  });

  it('a blocked account accepts no new password, no new address and no erasure with a token that is still valid', async () => {
    await blockAsOperator(environment(), holder.id, 'the holder called');
    const changes = [{ password: stolen }, { email: freshEmail() }];
    for (const change of changes)
      expect(codeOf(await patch({ ...change, current_password: password }))).toEqual([403, 'account-blocked']);
    expect(codeOf(await erase())).toEqual([403, 'account-blocked']);
  });

  it('a blocked account gets its previous address back when the change is undone', async () => {
    await changeTo(freshEmail());
    await blockAsOperator(environment(), holder.id, 'the holder called');
    expect((await undo()).status).toBe(204);
    expect((await read()).email).toBe(holder.email);
    expect(codeOf(await logIn(accounts, holder.email))).toEqual([403, 'account-blocked']);
  });
});
