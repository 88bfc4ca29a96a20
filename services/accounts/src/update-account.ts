// PATCH /v1/accounts/{accountId}: a merge patch of the caller's own account.
import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '@shop/shared/auth';
import { type Transaction, violatedConstraint } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { callerOf, etagOf, mergePatch, type OperationRequest, requireMatch } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { emailKey } from '@shop/shared/runtime';
import { Account, accountReply, emailTaken, type Profile, profileColumns, profileOf, toDetails } from './account.ts';
import { audit } from './audit.ts';
import { refuseCommonPassword } from './common-passwords.ts';
import type { Operation } from './context.ts';
import { inside } from './models.ts';
import { noSuchAccount, ownAccountId } from './own-account.ts';
import { endAllFamilies } from './refresh-token.ts';

/**
 * A patch that changes nothing keeps the version and sends no event.
 * @throws Problem 403 for another account, and for new credentials with an access token from before their last change;
 *   409 for an e-mail address that is registered; 412 when If-Match is stale; 422 for a common password
 */
export const updateAccount: Operation<'updateAccount'> = async (request, context) => {
  const accountId = ownAccountId(request);
  const { password, ...patch } = request.body;
  if (password !== undefined) refuseCommonPassword(password);
  const passwordHash = password === undefined ? undefined : await context.passwords.hash(password);
  return context.database.transaction(async (tx) => {
    const account = await Account.findByPk(accountId, inside(tx, 'UPDATE'));
    if (account === null) throw noSuchAccount();
    requireMatch(request.headers, etagOf(account.version));
    const before = profileOf(account);
    // The contract has validated every member of the patch, so the merged account is valid, too.
    const after = mergePatch(before, patch) as Profile;
    if (passwordHash === undefined && isDeepStrictEqual(before, after)) return accountReply(200, account);
    const emailChanges = after.email !== before.email;
    if (emailChanges || passwordHash !== undefined) {
      requirePresentCredentials(request, account);
      account.set({ credentialsVersion: account.credentialsVersion + 1, credentialsChangedAt: new Date() });
    }
    await saveProfile(tx, account, after);
    if (passwordHash !== undefined) await changePassword(tx, request, account, passwordHash);
    if (emailChanges) {
      const detail = { from: before.email, to: after.email };
      await audit(tx, { action: 'email-changed', accountId, requestId: request.id, detail });
    }
    await appendEvent(tx, {
      type: 'account.updated.v1',
      subject: accountId,
      sequence: account.version,
      data: { ...toDetails(account), ...credentialsChange(before, after, passwordHash) },
      requestId: request.id,
      traceparent: request.traceparent,
    });
    return accountReply(200, account);
  });
};

/** The changes that the holder is notified of, at the address before the change. */
function credentialsChange(before: Profile, after: Profile, passwordHash: string | undefined) {
  const email = after.email !== before.email;
  const credentialsChanged = [
    ...(email ? (['email'] as const) : []),
    ...(passwordHash === undefined ? [] : (['password'] as const)),
  ];
  if (credentialsChanged.length === 0) return {};
  return { credentialsChanged, ...(email ? { previousEmail: before.email.trim() } : {}) };
}

/**
 * Refuses an access token from before the last change of credentials, so that a stolen token cannot revert the owner's
 * change. The row is locked, so that only one of two requests with one token can change the credentials.
 */
function requirePresentCredentials(request: OperationRequest, account: Account): void {
  if (isIssuedForPresent(callerOf(request), account)) return;
  throw new Problem(
    'reauthentication-required',
    'The password or the e-mail address was changed after this access token was issued. Log in again.',
  );
}

/**
 * A token without a count has only the second of its issue. A token of the same second as the change may be older than
 * the change.
 */
function isIssuedForPresent({ credentialsVersion, issuedAt }: Caller, account: Account): boolean {
  if (credentialsVersion !== undefined) return credentialsVersion === account.credentialsVersion;
  const { credentialsChangedAt } = account;
  return credentialsChangedAt === null || issuedAt * 1_000 > credentialsChangedAt.getTime();
}

async function saveProfile(tx: Transaction, account: Account, profile: Profile): Promise<void> {
  account.set({ ...profileColumns(profile), emailKey: emailKey(profile.email), version: account.version + 1 });
  await account.save(inside(tx)).catch((error: unknown) => {
    throw violatedConstraint(error) === 'accounts_email_key' ? emailTaken(error) : error;
  });
}

/** Sessions that used the old password end, at the latest when their access token expires. */
async function changePassword(
  tx: Transaction,
  request: OperationRequest,
  account: Account,
  passwordHash: string,
): Promise<void> {
  await account.update({ passwordHash }, inside(tx));
  await endAllFamilies(tx, account.id);
  const { id: accountId } = account;
  await audit(tx, { action: 'password-changed', accountId, requestId: request.id, detail: {} });
}
