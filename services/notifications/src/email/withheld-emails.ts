// E-mails about orders wait for the verification of their recipient's address.
import { type Database, sql, type Transaction } from '@shop/shared/database';

/** How long an e-mail waits for its recipient's address, and for the verification of that address. */
export const verificationTimeout = "interval '168 hours'";

/** Makes the e-mails due that waited for the verification of the account's address. */
export async function releaseWithheld(tx: Transaction, accountId: string): Promise<void> {
  await sql(
    tx,
    `UPDATE notifications n SET next_attempt_at = now() FROM recipients r
     WHERE r.account_id = $1 AND r.verified
       AND n.account_id = $1 AND n.status = 'waiting' AND n.next_attempt_at = n.created_at + ${verificationTimeout}`,
    [accountId],
  );
}

// The lock of the recipient serializes this statement and a concurrent verification.
const withhold = `
  WITH unverified AS (
    SELECT account_id FROM recipients
    WHERE account_id IN (SELECT account_id FROM notifications WHERE id = ANY ($1::uuid[])) AND NOT verified
    ORDER BY account_id
    FOR SHARE
  )
  UPDATE notifications n SET next_attempt_at = created_at + ${verificationTimeout}
  FROM unverified WHERE n.account_id = unverified.account_id AND n.id = ANY ($1::uuid[])`;

/** Makes these e-mails wait, except those to an address that has just been verified. */
export async function withholdEmails(pool: Database['pool'], ids: readonly string[]): Promise<void> {
  await pool.query(withhold, [ids]);
}
