// Erases the address of an account and the content of its e-mails. Kinds, states and times stay.
import { sql, type Transaction } from '@shop/shared/database';
import { fileNameOf } from './email.ts';
import type { Mailer } from './mailer.ts';
import type { Occasion } from './notification.ts';

/** Returns the function that erases. It removes the files that the mailer has written, too. */
export function erasingEmails(
  mailer: Pick<Mailer, 'remove'>,
): (tx: Transaction, accountId: string) => Promise<boolean> {
  return async (tx, accountId) => {
    const emails = await sql<Occasion & { readonly resends: number }>(
      tx,
      `SELECT split_part(kind, ' ', 1) AS kind, details, resends FROM notifications
       WHERE account_id = $1 AND details::text <> '{}' FOR UPDATE`,
      [accountId],
    );
    for (const { resends, ...occasion } of emails) {
      for (let copy = 0; copy <= resends; copy += 1) await mailer.remove(fileNameOf(occasion, copy));
    }
    await sql(
      tx,
      `DELETE FROM recipient_paces WHERE key IN (
         SELECT prefix || address FROM unnest(ARRAY['order ', 'account ', 'verification ']) AS prefix, (
           SELECT email_key FROM recipients WHERE account_id = $1
           UNION SELECT recipient_key FROM notifications WHERE account_id = $1) AS addresses (address))`,
      [accountId],
    );
    await sql(
      tx,
      `UPDATE notifications SET details = '{}', recipient = NULL, paced_for = NULL, problem = NULL,
         status = CASE WHEN status = 'waiting' THEN 'withheld' ELSE status END,
         settled_at = coalesce(settled_at, now())
       WHERE account_id = $1 AND details::text <> '{}'`,
      [accountId],
    );
    await sql(tx, 'DELETE FROM recipients WHERE account_id = $1', [accountId]);
    return true;
  };
}
