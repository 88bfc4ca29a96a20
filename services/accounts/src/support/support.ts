// The actions of staff and operators on another person's account. Each change is recorded in the audit log.
import { sql, type Transaction } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { detailColumns } from '../account/account.ts';
import { appendAccountUpdates, type ChangedAccount } from '../account/account-events.ts';
import { audit, type SupportAuthor } from '../account/audit.ts';
import { sendEmailToken, type TokenHolder, type TokenSender } from '../account/email-token.ts';
import { perHour, untilShare } from '../account/email-verification.ts';
import { endAllFamilies } from '../session/refresh-token.ts';

/** The author and the reason of an action, for the audit log. */
export interface SupportRequest {
  /** The id of the request; undefined for an operator. */
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
  readonly author: SupportAuthor;
}

/**
 * Rejects log-ins, revokes every session, and withdraws a pending erasure, because the blocked person may have
 * requested it. The caller has locked the row of the account.
 */
export async function blockAccount(tx: Transaction, accountId: string, request: SupportRequest): Promise<void> {
  const [changed] = await sql<ChangedAccount & { readonly withdrawn: boolean }>(
    tx,
    `UPDATE accounts SET blocked_at = coalesce(blocked_at, now()), version = version + 1, updated_at = now(),
       erase_at = CASE WHEN withdrawn THEN NULL ELSE erase_at END
     FROM (SELECT id AS found, coalesce(erase_at > now(), false) AS withdrawn FROM accounts WHERE id = $1) AS before
     WHERE id = found AND (blocked_at IS NULL OR withdrawn)
     RETURNING withdrawn, ${detailColumns}, version`,
    [accountId],
  );
  if (changed !== undefined) await appendAccountUpdates(tx, [changed], request);
  if (changed?.withdrawn) await audit(tx, { action: 'erasure-withdrawn', accountId, ...request, detail: {} });
  await endAllFamilies(tx, accountId);
  await audit(tx, { action: 'account-blocked', accountId, ...request, detail: {} });
}

/** Permits log-ins again. The caller has locked the row of the account. */
export async function unblockAccount(tx: Transaction, accountId: string, request: SupportRequest): Promise<void> {
  const changed = await sql<ChangedAccount>(
    tx,
    `UPDATE accounts SET blocked_at = NULL, version = version + 1, updated_at = now()
     WHERE id = $1 AND blocked_at IS NOT NULL RETURNING ${detailColumns}, version`,
    [accountId],
  );
  await appendAccountUpdates(tx, changed, request);
  await audit(tx, { action: 'account-unblocked', accountId, ...request, detail: {} });
}

/**
 * Revokes every session. The caller has locked the row of the account.
 * @returns the number of revoked sessions
 */
export async function endSessionsFor(tx: Transaction, accountId: string, request: SupportRequest): Promise<number> {
  const sessions = await endAllFamilies(tx, accountId);
  await audit(tx, { action: 'sessions-ended', accountId, ...request, detail: { sessions } });
  return sessions;
}

/**
 * Sends an e-mail with a token for a new password. These e-mails have a separate limit, so that unauthenticated clients
 * who request a reset do not use it up. The caller has locked the row of the account.
 * @throws Problem 429 beyond the limit
 */
export async function sendPasswordResetFor(
  tx: Transaction,
  sender: TokenSender,
  account: TokenHolder & { readonly email: string },
  request: SupportRequest,
): Promise<void> {
  const seconds = await untilShare(tx, account.id, 'password-reset-sent');
  if (seconds > 0) {
    throw new Problem('too-many-requests', `At most ${perHour} e-mails to set a password an hour; wait ${seconds} s.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }
  await sendEmailToken(tx, sender, account, 'password-reset', account.email);
  await audit(tx, { action: 'password-reset-sent', accountId: account.id, ...request, detail: {} });
}
