// The mailbox of an account: its e-mail address with the domain in ASCII. Two accounts from before this form was compared
// can have one mailbox. Both are kept, and no further account can have it.
import { type Database, type Transaction, violatedConstraint } from '@shop/shared/database';
import { emailKey, unparsedEmailKey } from '@shop/shared/shop';

/** The columns by which an address is found. The last release reads and writes only the first one. */
export function addressKeys(email: string): { readonly emailKey: string; readonly mailboxKey: string } {
  return { emailKey: unparsedEmailKey(email), mailboxKey: emailKey(email) };
}

/**
 * The SQL condition that an account has the mailbox with this key. A key contains no space, and an account that shares
 * its mailbox with an older one has its own id after the key and a space. A row of the last release has no such key.
 */
export function mailboxCondition(key: string): string {
  return `(mailbox_key = ${key} OR mailbox_key > ${key} || ' ' AND mailbox_key < ${key} || '!' OR email_key = ${key})`;
}

const find = `
  SELECT id FROM accounts WHERE ${mailboxCondition('$1::text')} OR email_key = $2
  ORDER BY email_key = $2 DESC, mailbox_key NULLS LAST, id`;

/**
 * Returns the ids of the accounts with the mailbox of this address: at most one, except for accounts that have shared
 * it since before 1.2. The first one is that whose address is written in the same way.
 */
export async function findHolders(database: Transaction | Database, email: string): Promise<string[]> {
  const client = 'pool' in database ? database.pool : database.connection;
  const { rows } = await client.query<{ id: string }>(find, [emailKey(email), unparsedEmailKey(email)]);
  return rows.map(({ id }) => id);
}

/** Whether the database has refused an address because another account has it. */
export function isAddressTaken(error: unknown): boolean {
  return ['accounts_email_key', 'accounts_mailbox_key'].includes(violatedConstraint(error) ?? '');
}
