// Verification e-mails, and changes of the e-mail address that wait for their verification.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent, type EventPayloads } from '@shop/shared/events';
import type { OperationRequest } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { type Account, emailTaken, toDetails } from './account.ts';
import { type AuditDetails, audit } from './audit.ts';
import { sendEmailToken, type TokenSender, voidEmailTokens } from './email-token.ts';
import { isFormerOfAnother } from './former-address.ts';
import { addressKeys, findHolders, isAddressTaken } from './mailbox.ts';
import { inTransaction } from './models.ts';

/** The maximum number of e-mails of one kind that an account gets in an hour. */
export const perHour = 5;

/** Sends the verification e-mail to an address of the account. The row of the account is locked or new. */
export async function sendVerification(
  tx: Transaction,
  sender: TokenSender,
  account: Account,
  email: string,
): Promise<void> {
  await sendEmailToken(tx, sender, account, 'email-verification', email);
  const entry = { accountId: account.id, requestId: sender.request.id, detail: { email } };
  await audit(tx, { action: 'verification-sent', ...entry });
}

/**
 * @throws Problem 429 when the account has had its maximum of verification e-mails in the last hour, so that this
 * operation cannot be used to flood an address
 */
export async function requireVerificationShare(tx: Transaction, accountId: string): Promise<void> {
  const seconds = await untilShare(tx, accountId, 'verification-sent');
  if (seconds === 0) return;
  throw new Problem('too-many-requests', `At most ${perHour} verification e-mails an hour; wait ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Returns the seconds until the account may get another e-mail that the audit log records with this action. */
export async function untilShare(tx: Transaction, accountId: string, action: keyof AuditDetails): Promise<number> {
  const [oldest] = await sql<{ seconds: number }>(
    tx,
    `SELECT ceil(extract(epoch FROM created_at + interval '1 hour' - now()))::integer AS seconds FROM audit_log
     WHERE account_id = $1 AND action = $2 AND created_at > now() - interval '1 hour'
     ORDER BY created_at DESC OFFSET $3 LIMIT 1`,
    [accountId, action, perHour - 1],
  );
  return oldest === undefined ? 0 : Math.max(1, oldest.seconds);
}

/**
 * Stores the new address, which takes effect when it is verified, and sends its token. A verified present address gets
 * a notice with a token that undoes the change. An unverified present address gets no e-mail, because it may belong to
 * another person.
 * @throws Problem 409 for an address that is registered, 429 when too many verification e-mails were sent
 */
export async function requestEmailChange(
  tx: Transaction,
  sender: TokenSender,
  account: Account,
  email: string,
): Promise<void> {
  if (await isOfAnother(tx, account, email)) throw emailTaken();
  await requireVerificationShare(tx, account.id);
  account.set({ pendingEmail: email });
  const detail = { from: account.email, to: email };
  await audit(tx, { action: 'email-change-requested', accountId: account.id, requestId: sender.request.id, detail });
  await sendVerification(tx, sender, account, email);
  if (account.emailVerified) await sendEmailToken(tx, sender, account, 'email-change-undo', account.email);
}

/**
 * Returns whether the address belongs to another account, or can belong to it again because its change can be undone.
 * Both queries always run, so that the response time does not reveal which of them has found a row.
 */
export async function isOfAnother(tx: Transaction, { id }: Pick<Account, 'id'>, email: string): Promise<boolean> {
  const holders = await findHolders(tx, email);
  const isFormer = await isFormerOfAnother(tx, id, email);
  return isFormer || holders.some((holder) => holder !== id);
}

/** Removes the unverified change of the address, if there is one. The caller saves the account. */
export async function withdrawEmailChange(
  tx: Transaction,
  account: Account,
  requestId: string | undefined,
): Promise<void> {
  const { id: accountId, pendingEmail } = account;
  if (pendingEmail === null) return;
  account.set({ pendingEmail: null });
  await voidEmailTokens(tx, accountId, ['email-verification']);
  await audit(tx, { action: 'email-change-withdrawn', accountId, requestId, detail: { to: pendingEmail } });
}

/** Counts a change of credentials. Access tokens from before the change no longer permit another one. */
export function countCredentialsChange(account: Account): void {
  account.set({ credentialsVersion: account.credentialsVersion + 1, credentialsChangedAt: new Date() });
}

/**
 * Saves the account as its next version, and appends its event.
 * @throws Problem 409 when another account has its address; `pointer` names the member of the body that contains or
 * stands for the address
 */
export async function saveAccount(
  tx: Transaction,
  request: Pick<OperationRequest, 'id' | 'traceparent'>,
  account: Account,
  change: Partial<EventPayloads['account.updated.v1']> = {},
  pointer = '/token',
): Promise<void> {
  if (account.changed('email')) account.set(addressKeys(account.email));
  // The database cannot distinguish such a change from a change by a process of the previous release, and voids the
  // key.
  const keepsMailbox = account.changed('emailKey') && !account.changed('mailboxKey');
  account.set({ version: account.version + 1 });
  await account.save(inTransaction(tx)).catch((error: unknown) => {
    throw isAddressTaken(error) ? emailTaken(error, pointer) : error;
  });
  if (keepsMailbox) {
    await sql(tx, 'UPDATE accounts SET mailbox_key = $2 WHERE id = $1', [account.id, account.mailboxKey]);
  }
  await appendEvent(tx, {
    type: 'account.updated.v1',
    subject: account.id,
    sequence: account.version,
    data: { ...toDetails(account), ...change },
    requestId: request.id,
    traceparent: request.traceparent,
  });
}
