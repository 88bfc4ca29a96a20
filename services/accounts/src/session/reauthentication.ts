// Requires a proof that the account owner makes the request, because a bearer of a token may have stolen it. Changes of
// password and e-mail address and an export of all data need this proof.
import type { Caller } from '@shop/shared/auth';
import { type OperationRequest, requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { Account } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { noSuchAccount } from '../account/own-account.ts';
import type { Context } from '../context.ts';
import { toWaiter } from './waiter.ts';

/** Seconds after a log-in during which its access token proves that the account owner makes the request. */
const recently = 300;

/**
 * Checks the current password outside a transaction, so that a request that waits for its hash uses no connection.
 * @returns the hash that it matches, for `requireHolder`
 * @throws Problem 403 `wrong-password`, 503 when too many passwords are being checked
 */
export async function checkCurrentPassword(
  request: OperationRequest,
  context: Context,
  accountId: string,
  password: string,
): Promise<string> {
  const account = await Account.findByPk(accountId);
  if (account === null) throw noSuchAccount();
  const waiter = toWaiter(request, true);
  if (await context.passwords.matches(account.passwordHash, password, waiter)) return account.passwordHash;
  const entry = { action: 'reauthentication-failed', accountId, requestId: request.id, detail: {} } as const;
  await context.database.transaction((tx) => audit(tx, entry));
  throw new Problem('wrong-password', 'current_password is wrong. Nothing was changed.', {
    errors: [{ pointer: '/current_password', detail: 'is not the password of the account' }],
  });
}

/**
 * Locks the row of the account, so that only one of two requests with one proof can change the credentials.
 * @param confirmedHash the hash that `current_password` matched
 * @throws Problem 403 `reauthentication-required` without a proof, and with one from before the last change; 403
 *   `account-blocked`
 */
export function requireHolder(request: OperationRequest, account: Account, confirmedHash: string | undefined): void {
  refuseBlocked(account);
  if (confirmedHash !== undefined) {
    if (confirmedHash === account.passwordHash) return;
    throw required('The password was changed meanwhile.');
  }
  requireRecentLogIn(
    request,
    account,
    'This change needs current_password, or an access token of a log-in in the last 5 minutes.',
  );
}

/**
 * Requires an access token from a log-in in the last 5 minutes and after the last change of credentials.
 * @param detail the detail of the problem when the log-in is not recent
 * @throws Problem 403 `reauthentication-required` for any other token
 */
export function requireRecentLogIn(request: OperationRequest, account: Account, detail: string): void {
  const caller = requireCaller(request);
  if (!isIssuedForPresent(caller, account)) {
    throw required('The password or the e-mail address was changed after this access token was issued.');
  }
  if (!isOfRecentLogIn(caller)) throw required(detail);
}

/** @throws Problem 403 `account-blocked` */
export function refuseBlocked({ blockedAt }: Pick<Account, 'blockedAt'>): void {
  if (blockedAt !== null) throw new Problem('account-blocked', 'This account is blocked. Contact the shop.');
}

function required(detail: string): Problem {
  return new Problem('reauthentication-required', detail);
}

/**
 * Returns whether the log-in is recent. In a token that a log-in at the shop issued, both times are equal, and a
 * renewed token is younger than its log-in. Another issuer may issue its token some time after the log-in (OpenID
 * Connect Core section 2), so only the time of the log-in counts there.
 */
function isOfRecentLogIn({ credentialsVersion, issuedAt, authTime }: Caller): boolean {
  if (authTime === undefined || Date.now() / 1_000 - authTime >= recently) return false;
  return credentialsVersion === undefined ? authTime <= issuedAt : authTime === issuedAt;
}

/**
 * Returns whether the token was issued after the last change of credentials. A token without a count has only the
 * second of its log-in. If that is the second of the change, the log-in may have been before the change.
 */
function isIssuedForPresent({ credentialsVersion, issuedAt, authTime = issuedAt }: Caller, account: Account): boolean {
  if (credentialsVersion !== undefined) return credentialsVersion === account.credentialsVersion;
  const { credentialsChangedAt } = account;
  return credentialsChangedAt === null || authTime * 1_000 > credentialsChangedAt.getTime();
}
