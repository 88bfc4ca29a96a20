// The audit log: changes and attempts on accounts. It is kept for a year. Staff, operators and, in an export, holders
// read it.
import { sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';

/** Action → the details that are stored beside account, request and time. Never a password or a token. */
export interface AuditDetails {
  'login-succeeded': Record<never, never>;
  'login-failed': Record<never, never>;
  /** With the right password. */
  'login-blocked': Record<never, never>;
  'refresh-token-reused': Record<never, never>;
  /** By the holder, staff or an operator. A log-out, and a change that ends sessions, have no entry of this kind. */
  'sessions-ended': { readonly sessions: number };
  'password-changed': Record<never, never>;
  'reauthentication-failed': Record<never, never>;
  'verification-sent': { readonly email: string };
  'email-verified': { readonly email: string; readonly by: 'holder' | 'operator' };
  'email-change-requested': { readonly from: string; readonly to: string };
  'email-change-withdrawn': { readonly to: string };
  'email-change-undone': { readonly from: string; readonly to: string };
  'email-token-refused': { readonly purpose: EventPayloads['email-token.issued.v1']['kind'] };
  'password-reset-requested': Record<never, never>;
  'password-reset': Record<never, never>;
  'email-changed': { readonly from: string; readonly to: string };
  'erasure-requested': { readonly eraseAt: string };
  'erasure-withdrawn': Record<never, never>;
  'account-erased': Record<never, never>;
  exported: Record<never, never>;
  /** By staff or an operator, as the following. */
  'account-blocked': Record<never, never>;
  'account-unblocked': Record<never, never>;
  'password-reset-sent': Record<never, never>;
  /** Of a machine, whose client id is in the place of the account. */
  'machine-created': Readonly<Record<string, string | boolean | readonly string[]>>;
  'machine-rotated': Readonly<Record<string, string | boolean | readonly string[]>>;
  'machine-revoked': Readonly<Record<string, string | boolean | readonly string[]>>;
  'machine-refused': Record<never, never>;
  'scopes-changed': { readonly from: readonly string[]; readonly to: readonly string[] };
}

/** Who acts on the account of somebody else, and why. */
export interface SupportAuthor {
  /** The account of a member of staff; undefined for an operator. */
  readonly staffId: string | undefined;
  readonly reason: string;
}

export interface AuditEntry<Action extends keyof AuditDetails> {
  readonly action: Action;
  /** Undefined when no account has the e-mail address. */
  readonly accountId: string | undefined;
  /** Undefined for an operator's change. */
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
