// POST /v1/email-verifications/undo: the owner of the previous address undoes a change of the address.
import { sql, type Transaction } from '@shop/shared/database';
import { audit } from '../account/audit.ts';
import { sendEmailToken, useEmailToken, voidEmailTokens } from '../account/email-token.ts';
import { countCredentialsChange, saveAccount, withdrawEmailChange } from '../account/email-verification.ts';
import { cancelErasure } from '../account/erasure.ts';
import { voidLaterChanges } from '../account/former-address.ts';
import type { Operation } from '../context.ts';
import { endAllFamilies } from '../session/refresh-token.ts';

/** Days before the change in which a new password counts as set by the author of the change. */
const suspectDays = 7;

/**
 * Undoes a change of the address. The author of the change knew the password or had a session. So every session is
 * revoked, a pending erasure is withdrawn, a recent password is void, and the restored address gets a token for a new
 * password.
 * @throws Problem 400 for a token that is not valid, 409 when another account has the address by now
 */
export const undoEmailChange: Operation<'undoEmailChange'> = (request, context) =>
  useEmailToken(request, context, 'email-change-undo', request.body.token, async (tx, used) => {
    const { account, email, createdAt } = used;
    const { id: accountId, email: present } = account;
    await withdrawEmailChange(tx, account, request.id);
    await cancelErasure(tx, account, request.id);
    account.set({ email, emailVerified: true });
    const passwordVoided = await isPasswordSuspect(tx, accountId, createdAt);
    if (passwordVoided) account.set({ passwordHash: context.passwords.unmatched });
    countCredentialsChange(account);
    await saveAccount(tx, request, account, email === present ? {} : { previousEmail: present.trim() });
    await voidEmailTokens(tx, accountId, ['email-verification', 'password-reset']);
    // The tokens of later changes were sent to addresses that this change introduced. They must not undo this
    // operation.
    await voidLaterChanges(tx, accountId, createdAt);
    await endAllFamilies(tx, accountId);
    await sendEmailToken(tx, { request, context }, account, 'password-reset', email);
    const detail = { from: present, to: email, passwordVoided };
    await audit(tx, { action: 'email-change-undone', accountId, requestId: request.id, detail });
  });

/** Returns whether the password was set after the change was requested, or in the days before it. */
async function isPasswordSuspect(tx: Transaction, accountId: string, requestedAt: Date): Promise<boolean> {
  const [found] = await sql(
    tx,
    `SELECT FROM audit_log WHERE account_id = $1 AND action IN ('password-changed', 'password-reset')
       AND created_at > $2::timestamptz - interval '${suspectDays} days' LIMIT 1`,
    [accountId, requestedAt],
  );
  return found !== undefined;
}
