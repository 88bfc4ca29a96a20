// Staff are accounts with scopes. Only operators grant scopes.
import { type Database, sql } from '@shop/shared/database';
import { type Environment, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { audit } from '../account/audit.ts';
import { findHolders } from '../account/mailbox.ts';
import { readDatabaseConfig } from '../config.ts';
import { endAllFamilies } from '../session/refresh-token.ts';
import { type StaffScope, staffScopes } from './staff-scopes.ts';

export interface Staff {
  readonly accountId: string;
  readonly email: string;
  readonly scopes: readonly StaffScope[];
}

/**
 * Adds scopes to an account. Its next access token contains them.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @returns the account with all its scopes
 * @throws StartError when no account has this e-mail address
 */
export async function grantScopes(
  environment: Environment,
  email: string,
  scopes: readonly StaffScope[],
): Promise<Staff> {
  return changeScopes(environment, email, (scope, held) => held || scopes.includes(scope));
}

/**
 * Removes scopes from an account. Its sessions are revoked, so access tokens with these scopes are rejected within 2
 * seconds.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @returns the account with its remaining scopes
 * @throws StartError when no account has this e-mail address
 */
export async function revokeScopes(
  environment: Environment,
  email: string,
  scopes: readonly StaffScope[],
): Promise<Staff> {
  return changeScopes(environment, email, (scope, held) => held && !scopes.includes(scope));
}

/** Returns all accounts that have a scope, by e-mail address. */
export async function listStaff(environment: Environment): Promise<Staff[]> {
  return withAccounts(environment, async ({ pool }) => {
    const { rows } = await pool.query<Staff>(
      `SELECT id AS "accountId", email, scopes FROM accounts WHERE scopes <> '{}' ORDER BY email_key`,
    );
    return rows;
  });
}

async function changeScopes(
  environment: Environment,
  email: string,
  keeps: (scope: StaffScope, held: boolean) => boolean,
): Promise<Staff> {
  return withAccounts(environment, (database) =>
    database.transaction(async (tx) => {
      const [account] = await sql<Staff>(
        tx,
        'SELECT id AS "accountId", email, scopes FROM accounts WHERE id = $1 FOR UPDATE',
        [(await findHolders(tx, email))[0] ?? null],
      );
      if (account === undefined) {
        throw new StartError(`there is no account with the e-mail ${email}: it has to be registered first`);
      }
      const { accountId, scopes: from } = account;
      const to = staffScopes.filter((scope) => keeps(scope, from.includes(scope)));
      if (to.length !== from.length || !to.every((scope) => from.includes(scope))) {
        await sql(tx, 'UPDATE accounts SET scopes = $2::text[] WHERE id = $1', [accountId, to]);
        if (!from.every((scope) => to.includes(scope))) await endAllFamilies(tx, accountId);
        await audit(tx, { action: 'scopes-changed', accountId, requestId: undefined, detail: { from, to } });
      }
      return { ...account, scopes: to };
    }),
  );
}

function withAccounts<T>(environment: Environment, use: (database: Database) => Promise<T>): Promise<T> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'accounts staff' }, use);
}
