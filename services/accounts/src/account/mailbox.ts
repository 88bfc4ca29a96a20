// The mailbox of an account is its e-mail address with the domain in ASCII. Two old accounts can have the same mailbox,
// because earlier releases did not compare mailboxes. Both stay, and no further account can use it.
import { type Database, type Transaction, violatedConstraint } from '@shop/shared/database';
import { emailKey, unparsedEmailKey } from '@shop/shared/shop';

/** Returns the columns by which an address is found. The previous release reads and writes only the first one. */
export function addressKeys(email: string): { readonly emailKey: string; readonly mailboxKey: string } {
  return { emailKey: unparsedEmailKey(email), mailboxKey: emailKey(email) };
}

/**
 * Returns the SQL condition that an account has the mailbox with this key. A key contains no space. An account with the
 * same mailbox as an older one appends a space and its own id to the key. A row of the previous release has no such
 * key.
 */
export function mailboxCondition(key: string): string {
  return `(mailbox_key = ${key} OR mailbox_key > ${key} || ' ' AND mailbox_key < ${key} || '!' OR email_key = ${key})`;
}

const find = `
  SELECT id FROM accounts WHERE ${mailboxCondition('$1::text')} OR email_key = $2
  ORDER BY email_key = $2 DESC, mailbox_key NULLS LAST, id`;

/**
 * Returns the ids of the accounts with the mailbox of this address. There is at most one, unless two accounts have used
 * the mailbox since before 1.2. An account with the same spelling of the address is first.
 */
export async function findHolders(database: Transaction | Database, email: string): Promise<string[]> {
  const client = 'pool' in database ? database.pool : database.connection;
  const { rows } = await client.query<{ id: string }>(find, [emailKey(email), unparsedEmailKey(email)]);
  return rows.map(({ id }) => id);
}

/** Returns whether the database has rejected an address because another account has it. */
export function isAddressTaken(error: unknown): boolean {
  return ['accounts_email_key', 'accounts_mailbox_key'].includes(violatedConstraint(error) ?? '');
}
