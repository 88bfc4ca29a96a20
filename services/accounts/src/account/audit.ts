// The audit log: changes of accounts and attempts to access them. Entries are stored for a year. Staff and operators
// read it, and an export contains the entries of its account.
import { sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import type { TaxId } from './account-columns.ts';

/** Action → the details that are stored beside account, request and time. Never a password or a token. */
export interface AuditDetails {
  'login-succeeded': Record<never, never>;
  'login-failed': Record<never, never>;
  /** A log-in with the right password. */
  'login-blocked': Record<never, never>;
  'refresh-token-reused': Record<never, never>;
  /**
   * The customer, staff or an operator revoked sessions. A log-out, and a change that revokes sessions, have no entry
   * of this kind.
   */
  'sessions-ended': { readonly sessions: number };
  'password-changed': Record<never, never>;
  'reauthentication-failed': Record<never, never>;
  'verification-sent': { readonly email: string };
  'email-verified': { readonly email: string; readonly by: 'holder' | 'operator' };
  'email-change-requested': { readonly from: string; readonly to: string };
  'email-change-withdrawn': { readonly to: string };
  'email-change-undone': { readonly from: string; readonly to: string; readonly passwordVoided: boolean };
  'email-token-refused': { readonly purpose: EventPayloads['email-token.issued.v1']['kind'] };
  'password-reset-requested': Record<never, never>;
  /** A reset was requested for an account that has had its maximum of e-mails, so none was sent. */
  'password-reset-withheld': Record<never, never>;
  'password-reset': Record<never, never>;
  'email-changed': { readonly from: string; readonly to: string };
  'erasure-requested': { readonly eraseAt: string };
  'erasure-withdrawn': Record<never, never>;
  'account-erased': Record<never, never>;
  exported: Record<never, never>;
  /** Staff or an operator did this, and the actions after it. */
  'account-blocked': Record<never, never>;
  'account-unblocked': Record<never, never>;
  'password-reset-sent': Record<never, never>;
  'tax-id-set': { readonly from?: TaxId; readonly to: TaxId };
  'tax-id-removed': { readonly from?: TaxId };
  /** Actions on a machine. The entry has its client id instead of an account. */
  'machine-created': Readonly<Record<string, string | boolean | readonly string[]>>;
  'machine-rotated': Readonly<Record<string, string | boolean | readonly string[]>>;
  'machine-revoked': Readonly<Record<string, string | boolean | readonly string[]>>;
  'machine-refused': Record<never, never>;
  'scopes-changed': { readonly from: readonly string[]; readonly to: readonly string[] };
}

/** Staff or an operator who acts on another person's account, and the reason. */
export interface SupportAuthor {
  /** The account of a member of staff; undefined for an operator. */
  readonly staffId: string | undefined;
  readonly reason: string;
}

export interface AuditEntry<Action extends keyof AuditDetails> {
  readonly action: Action;
  /** The account; undefined when no account has the e-mail address. */
  readonly accountId: string | undefined;
  /** The id of the request; undefined for an operator's change. */
  readonly requestId: string | undefined;
  readonly author?: SupportAuthor;
  readonly detail: AuditDetails[Action];
}

/** Writes the entry in the transaction of the change that it records. */
export async function audit<Action extends keyof AuditDetails>(
  tx: Transaction,
  entry: AuditEntry<Action>,
): Promise<void> {
  const { accountId, action, requestId, author, detail } = entry;
  await sql(
    tx,
    `INSERT INTO audit_log (id, account_id, action, request_id, staff_id, reason, detail)
     VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb)`,
    [
      newId(),
      accountId ?? null,
      action,
      requestId ?? null,
      author?.staffId ?? null,
      author?.reason ?? null,
      JSON.stringify(detail),
    ],
  );
}

/** The SQL expression for the author of a row of the audit log. */
export const authorSql =
  "(CASE WHEN staff_id IS NOT NULL THEN 'staff' WHEN request_id IS NULL THEN 'operator' ELSE 'client' END)";
