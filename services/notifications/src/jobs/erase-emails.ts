// Erases the address of an account and the content of its e-mails. Kinds, states and times stay.
import { sql, type Transaction } from '@shop/shared/database';
import type { Erased } from '@shop/shared/service';
import { toFileName } from '../email/email.ts';
import type { Mailer } from '../email/mailer.ts';
import type { Occasion } from '../email/notification.ts';
import { mailboxSql } from '../email/rate-limit.ts';

const batchSize = 500;

/**
 * The e-mails to erase. A sender may have claimed an e-mail that is due within a minute and write its file afterwards,
 * so such an e-mail is erased later.
 */
const isKept = `details::text <> '{}'
  AND (status <> 'waiting' OR next_attempt_at < now() OR next_attempt_at > now() + interval '1 minute')`;

/** Returns the function that erases an account. It also removes the files that the mailer has written. */
export function erasingEmails(mailer: Pick<Mailer, 'remove'>): (tx: Transaction, accountId: string) => Promise<Erased> {
  return async (tx, accountId) => {
    const emails = await sql<Occasion & { readonly id: string; readonly resends: number }>(
      tx,
      `SELECT id, split_part(kind, ' ', 1) AS kind, details, resends FROM notifications
       WHERE account_id = $1 AND ${isKept} ORDER BY id LIMIT ${batchSize} FOR UPDATE`,
      [accountId],
    );
    for (const { id: _, resends, ...occasion } of emails) {
      for (let copy = 0; copy <= resends; copy += 1) await mailer.remove(toFileName(occasion, copy));
    }
    await sql(
      tx,
      `DELETE FROM recipient_paces WHERE key IN (
         SELECT prefix || ${mailboxSql('address')}
         FROM unnest(ARRAY['order ', 'account ', 'verification ', 'own verification ']) AS prefix, (
           SELECT address_key(email) FROM recipients WHERE account_id = $1
           UNION SELECT address_key(recipient) FROM notifications WHERE account_id = $1) AS addresses (address))`,
      [accountId],
    );
    await sql(
      tx,
      `UPDATE notifications SET details = '{}', recipient = NULL, paced_for = NULL, problem = NULL,
         status = CASE WHEN status = 'waiting' THEN 'withheld' ELSE status END,
         settled_at = coalesce(settled_at, now())
       WHERE id = ANY ($1::uuid[])`,
      [emails.map(({ id }) => id)],
    );
    if (emails.length === batchSize) return 'more';
    await sql(tx, 'DELETE FROM recipients WHERE account_id = $1', [accountId]);
    const claimed = await sql(tx, "SELECT FROM notifications WHERE account_id = $1 AND details::text <> '{}' LIMIT 1", [
      accountId,
    ]);
    return claimed.length === 0 ? 'done' : 'waits';
  };
}
