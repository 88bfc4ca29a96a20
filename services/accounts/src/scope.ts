// The scopes that make an account staff: a closed list, granted from the command line and nowhere else.
import { type Database, sql } from '@shop/shared/database';
import { emailKey, StartError } from '@shop/shared/runtime';
import { audit } from './audit.ts';

const scopes = ['catalogue:write', 'orders:fulfil', 'orders:read-all'] as const;
export type Scope = (typeof scopes)[number];

export interface Staff {
  readonly accountId: string;
  readonly email: string;
  readonly scopes: readonly Scope[];
}

/** @throws StartError for an unknown scope, which it names, or for an empty list */
export function parseScopes(words: readonly string[]): Scope[] {
  const unknown = words.filter((word) => !(scopes as readonly string[]).includes(word));
  if (unknown.length > 0) throw new StartError(`unknown scope ${unknown.join(', ')}; known are ${scopes.join(', ')}`);
  if (words.length === 0) throw new StartError(`name at least one scope of ${scopes.join(', ')}`);
  return words as Scope[];
}

/**
 * Leaves the account with the scopes that `keeps` says yes to. They are in its next access token; tokens that are out keep what
 * they have for at most 15 minutes.
 * @throws StartError when no account has this e-mail
 */
export async function changeScopes(
  database: Database,
  email: string,
  keeps: (scope: Scope, held: boolean) => boolean,
): Promise<Staff> {
  return database.transaction(async (tx) => {
    const [account] = await sql<Staff>(
      tx,
      'SELECT id AS "accountId", email, scopes FROM accounts WHERE email_key = $1 FOR UPDATE',
      [emailKey(email)],
    );
    if (account === undefined)
      throw new StartError(`there is no account with the e-mail ${email}: it has to be registered first`);
    const after = scopes.filter((scope) => keeps(scope, account.scopes.includes(scope)));
    const same = after.length === account.scopes.length && after.every((scope) => account.scopes.includes(scope));
    if (!same) {
      await sql(tx, 'UPDATE accounts SET scopes = $2::text[] WHERE id = $1', [account.accountId, after]);
      const detail = { from: account.scopes, to: after };
      await audit(tx, { action: 'scopes-changed', accountId: account.accountId, requestId: undefined, detail });
    }
    return { ...account, scopes: after };
  });
}

/** Everyone who holds a scope. */
export async function listStaff({ pool }: Database): Promise<Staff[]> {
  const { rows } = await pool.query<Staff>(
    `SELECT id AS "accountId", email, scopes FROM accounts WHERE scopes <> '{}' ORDER BY email_key`,
  );
  return rows;
}
