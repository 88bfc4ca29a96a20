// PATCH /v1/accounts/{accountId}: a merge patch of the caller's own account.
import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';
import { mergePatch } from '@shop/shared/json';
import {
  Account,
  accountResult,
  notErased,
  type Profile,
  profileColumns,
  requireAccountMatch,
  toAccountProfile,
} from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { refuseCommonPassword } from '../account/common-passwords.ts';
import { voidEmailTokens } from '../account/email-token.ts';
import {
  countCredentialsChange,
  requestEmailChange,
  saveAccount,
  withdrawEmailChange,
} from '../account/email-verification.ts';
import { cancelErasure } from '../account/erasure.ts';
import { inTransaction } from '../account/models.ts';
import { noSuchAccount, ownAccountId } from '../account/own-account.ts';
import type { Operation } from '../context.ts';
import { checkCurrentPassword, requireHolder } from '../session/reauthentication.ts';
import { endAllFamilies } from '../session/refresh-token.ts';
import { toWaiter } from '../session/waiter.ts';

/**
 * Applies the patch. A patch without a change does not increase the version and sends no event. A new e-mail address
 * takes effect when it is verified.
 * @throws Problem 403 for another account, and for new credentials without the required proof; 409 for an e-mail
 * address that is registered; 412 when If-Match is stale; 422 for a common password; 429 when too many verification
 * e-mails were sent
 */
export const updateAccount: Operation<'updateAccount'> = async (request, context) => {
  const accountId = ownAccountId(request);
  const { password, current_password: currentPassword, ...patch } = request.body;
  if (password !== undefined) refuseCommonPassword(password);
  const confirmedHash =
    currentPassword === undefined
      ? undefined
      : await checkCurrentPassword(request, context, accountId, currentPassword);
  const passwordHash =
    password === undefined ? undefined : await context.passwords.hash(password, toWaiter(request, true));
  return context.database.transaction(async (tx) => {
    const account = await Account.findOne({ where: { id: accountId, ...notErased() }, ...inTransaction(tx, 'UPDATE') });
    if (account === null) throw noSuchAccount();
    requireAccountMatch(request, account);
    const before = toAccountProfile(account);
    // The contract has validated every member of the patch, so the merged account is valid, too.
    const { email, ...after } = mergePatch(before, patch) as Profile;
    const emailChanges = email !== before.email && email !== account.pendingEmail;
    // A change that another person requested must not take effect after the customer has set a new password.
    const withdraws =
      account.pendingEmail !== null &&
      (patch.email === before.email || (patch.email === undefined && passwordHash !== undefined));
    const profile = { ...after, email: before.email };
    if (passwordHash === undefined && !emailChanges && !withdraws && isDeepStrictEqual(before, profile))
      return accountResult(200, account);
    if (emailChanges || passwordHash !== undefined) requireHolder(request, account, confirmedHash);
    account.set(profileColumns(profile));
    if (emailChanges) await requestEmailChange(tx, { request, context }, account, email);
    else if (withdraws) await withdrawEmailChange(tx, account, request.id);
    if (passwordHash !== undefined) await changePassword(tx, request, account, passwordHash);
    const changed = passwordHash === undefined ? {} : { credentialsChanged: ['password' as const] };
    await saveAccount(tx, request, account, changed, '/email');
    return accountResult(200, account);
  });
};

/**
 * Changes the password. Every session is revoked, including the current one, because its tokens may have been copied.
 * The customer can log in with the new password. Tokens of password resets are voided and a pending erasure is
 * withdrawn, because another person may have requested them.
 */
async function changePassword(
  tx: Transaction,
  request: OperationRequest,
  account: Account,
  passwordHash: string,
): Promise<void> {
  account.set({ passwordHash });
  countCredentialsChange(account);
  await endAllFamilies(tx, account.id);
  await cancelErasure(tx, account, request.id);
  const { id: accountId } = account;
  await voidEmailTokens(tx, accountId, ['password-reset']);
  await audit(tx, { action: 'password-changed', accountId, requestId: request.id, detail: {} });
}
