// The recipients of e-mails: a copy of the data that the accounts service publishes.
import { sql, type Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { parseEmail } from '@shop/shared/shop';

export interface Recipient {
  readonly email: string;
  readonly name: string;
  /** A language tag (BCP 47). Null when the customer chose none. */
  readonly locale: string | null;
}

/**
 * Returns the normalized address for mail servers and rate limits. A string that is not an address is returned
 * unchanged, and no e-mail is sent to it.
 */
export function mailAddress(email: string): string {
  return parseEmail(email)?.ascii ?? email;
}

/**
 * Stores an address unless a newer version is stored, because events may arrive out of order. The same version is
 * stored again, because an account can be announced again. Events of releases without verification have no
 * `emailVerified`; their addresses count as verified.
 */
export async function upsertRecipient(
  tx: Transaction,
  { data, sequence }: ShopEvent<'account.registered.v1' | 'account.updated.v1'>,
): Promise<void> {
  await sql(
    tx,
    `INSERT INTO recipients (account_id, email, name, verified, locale, sequence)
     SELECT $1, $2, $3, $4, $5, $6 WHERE NOT EXISTS (SELECT FROM erased_accounts WHERE account_id = $1)
     ON CONFLICT (account_id) DO UPDATE
     SET email = excluded.email, name = excluded.name, locale = excluded.locale, sequence = excluded.sequence,
       verified = CASE WHEN $7 THEN excluded.verified ELSE recipients.verified END, updated_at = now()
     WHERE recipients.sequence <= excluded.sequence`,
    [
      data.accountId,
      mailAddress(data.email),
      data.name,
      data.emailVerified ?? true,
      data.locale ?? null,
      sequence,
      data.emailVerified !== undefined,
    ],
  );
}
