// The previous addresses of an account. Each was its verified address in the last 7 days, and its token can still undo
// the change. Until then such an address belongs to the account.
import { sql, type Transaction } from '@shop/shared/database';
import { emailKey } from '@shop/shared/shop';
import type { Account } from './account.ts';

const isUsable = "purpose = 'email-change-undo' AND expires_at > now()";

/**
 * Returns whether the address is a previous address of another account. After an insert or update of a row with this
 * address the result is exact, because that statement has waited for concurrent changes of the address.
 */
export async function isFormerOfAnother(tx: Transaction, accountId: string, email: string): Promise<boolean> {
  const key = emailKey(email);
  const tokens = await sql<{ email: string }>(
    tx,
    `SELECT email FROM email_tokens
     WHERE ${isUsable} AND (email_key = $1 OR email_key IS NULL) AND account_id <> $2`,
    [key, accountId],
  );
  // Tokens of the previous release have no key.
  return tokens.some((token) => emailKey(token.email) === key);
}

/** Returns the previous addresses of the account, oldest first. */
export async function formerAddresses(
  tx: Transaction,
  { id, email }: Pick<Account, 'id' | 'email'>,
): Promise<readonly string[]> {
  const tokens = await sql<{ email: string }>(
    tx,
    `SELECT email FROM email_tokens WHERE ${isUsable} AND account_id = $1 ORDER BY created_at`,
    [id],
  );
  const byKey = new Map(tokens.map((token) => [emailKey(token.email), token.email.trim()]));
  byKey.delete(emailKey(email));
  return [...byKey.values()];
}

/**
 * Voids the tokens of the changes that happened after the account left this address. They were sent to addresses that
 * these changes introduced. Called when the account returns to the address.
 * @returns whether it was a previous address
 */
export async function returnToFormer(tx: Transaction, accountId: string, email: string): Promise<boolean> {
  const tokens = await sql<{ email: string; createdAt: Date }>(
    tx,
    `SELECT email, created_at AS "createdAt" FROM email_tokens WHERE ${isUsable} AND account_id = $1
     ORDER BY created_at`,
    [accountId],
  );
  const left = tokens.find((token) => emailKey(token.email) === emailKey(email));
  if (left === undefined) return false;
  await voidLaterChanges(tx, accountId, left.createdAt);
  return true;
}

/** Voids the tokens that undo this change of the address or a later one. */
export async function voidLaterChanges(tx: Transaction, accountId: string, since: Date): Promise<void> {
  await sql(
    tx,
    "DELETE FROM email_tokens WHERE account_id = $1 AND purpose = 'email-change-undo' AND created_at >= $2",
    [accountId, since],
  );
}
