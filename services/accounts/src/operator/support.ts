// Lets operators use the support functions of staff, also for accounts of staff.
import { fileURLToPath } from 'node:url';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { loadContract } from '@shop/shared/contract';
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { type Environment, isId, newId, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { emailKey, operatorCommand } from '@shop/shared/shop';
import type { TaxId } from '../account/account-columns.ts';
import { findHolders } from '../account/mailbox.ts';
import { readDatabaseConfig, readEmailTokenConfig } from '../config.ts';
import {
  blockAccount,
  endSessionsFor,
  type SupportRequest,
  sendPasswordResetFor,
  unblockAccount,
} from '../support/support.ts';
import { prefixCondition } from '../support/support-collections.ts';
import { changeTaxId, taxIdFaults } from '../support/tax-id.ts';

export interface KnownAccount {
  readonly accountId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly pendingEmail: string | null;
  readonly name: string;
  readonly locale: string | null;
  readonly taxId: TaxId | null;
  readonly scopes: readonly string[];
  readonly blockedAt: Date | null;
  readonly eraseAt: Date | null;
  readonly createdAt: Date;
}

export interface KnownSession {
  readonly sessionId: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly address: string | null;
  readonly userAgent: string | null;
}

const columns = `id AS "accountId", email, email_verified AS "emailVerified", pending_email AS "pendingEmail", name,
  locale, tax_id AS "taxId", scopes, blocked_at AS "blockedAt", erase_at AS "eraseAt", created_at AS "createdAt"`;

/**
 * Returns the accounts with an e-mail address or name that begins with `text`, newest first.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 */
export function findAccounts(environment: Environment, text: string, limit: number): Promise<KnownAccount[]> {
  return inAccounts(environment, 'accounts find', async ({ pool }) => {
    const { rows } = await pool.query<KnownAccount>(
      `SELECT ${columns} FROM accounts WHERE ${prefixCondition('$1::text')} ORDER BY id DESC LIMIT $2`,
      [emailKey(text), limit],
    );
    return rows;
  });
}

/**
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @param account id or e-mail address
 * @throws StartError when the account does not exist
 */
export function showAccount(environment: Environment, account: string): Promise<KnownAccount> {
  return inAccounts(environment, 'accounts show', (database) =>
    database.transaction(async (tx) => withoutVersion(await requireAccount(tx, account))),
  );
}

/**
 * Returns the sessions of an account that can be renewed, the last used first. The parameters are those of
 * `showAccount`.
 */
export function listSessions(environment: Environment, account: string): Promise<KnownSession[]> {
  return inAccounts(environment, 'accounts sessions', (database) =>
    database.transaction(async (tx) => {
      const { accountId } = await requireAccount(tx, account);
      return sql<KnownSession>(
        tx,
        `SELECT id AS "sessionId", created_at AS "createdAt", coalesce(last_used_at, created_at) AS "lastUsedAt",
           address, user_agent AS "userAgent"
         FROM refresh_families WHERE account_id = $1 AND expires_at > now() ORDER BY "lastUsedAt" DESC, id DESC`,
        [accountId],
      );
    }),
  );
}

/**
 * Blocks the account: rejects its log-ins and revokes its sessions.
 * @returns the account after the change
 */
export function blockAsOperator(environment: Environment, account: string, reason: string): Promise<KnownAccount> {
  return change(environment, 'accounts block', account, reason, (tx, { accountId }, request) =>
    blockAccount(tx, accountId, request),
  );
}

/**
 * Permits log-ins of the account again.
 * @returns the account after the change
 */
export function unblockAsOperator(environment: Environment, account: string, reason: string): Promise<KnownAccount> {
  return change(environment, 'accounts unblock', account, reason, (tx, { accountId }, request) =>
    unblockAccount(tx, accountId, request),
  );
}

/**
 * Revokes every session of the account.
 * @returns the account and the number of revoked sessions
 */
export async function endSessionsAsOperator(
  environment: Environment,
  account: string,
  reason: string,
): Promise<KnownAccount & { readonly sessions: number }> {
  let sessions = 0;
  const changed = await change(environment, 'accounts end-sessions', account, reason, async (tx, found, request) => {
    sessions = await endSessionsFor(tx, found.accountId, request);
  });
  return { ...changed, sessions };
}

/**
 * Sends the customer an e-mail with a token for a new password.
 * @param environment the variables of accounts, of which DATABASE_URL and INTERNAL_SECRET are read
 * @throws StartError when the account does not exist, or has had its maximum of these e-mails
 */
export function sendPasswordResetAsOperator(
  environment: Environment,
  account: string,
  reason: string,
): Promise<KnownAccount> {
  const emailTokenSeal = createEmailTokenSeal(readEmailTokenConfig(environment).internalSecrets);
  const sender = { request: { id: newId(), traceparent: undefined }, context: { emailTokenSeal } };
  return change(environment, 'accounts reset', account, reason, async (tx, found, request) => {
    const { accountId: id, version, ...rest } = found;
    try {
      await sendPasswordResetFor(tx, sender, { ...rest, id, version }, request);
    } catch (error) {
      throw error instanceof Problem ? new StartError(error.message) : error;
    }
  });
}

/**
 * Sets the tax id of the account, or removes it with null.
 * @returns the account after the change
 * @throws StartError when the account does not exist, or for a tax id that the contract does not permit
 */
export async function setTaxIdAsOperator(
  environment: Environment,
  account: string,
  taxId: TaxId | null,
  reason: string,
): Promise<KnownAccount> {
  const body = { tax_id: taxId, reason };
  const { operations } = loadContract(fileURLToPath(new URL('../../openapi.yaml', import.meta.url)));
  const operation = operations.find(({ operationId }) => operationId === 'setTaxId');
  const { faults = [] } =
    operation?.check({ url: operation.path, path: { accountId: newId() }, headers: {}, body }) ?? {};
  const [fault] = [...faults, ...taxIdFaults(body)];
  if (fault !== undefined) throw new StartError(`the ${fault.pointer?.split('/').at(-1)} ${fault.detail}`);
  return change(environment, 'accounts set-tax-id', account, reason, (tx, { accountId }, request) =>
    changeTaxId(tx, accountId, taxId, request),
  );
}

/** Runs `work` with the locked account in one transaction. */
function change(
  environment: Environment,
  name: string,
  account: string,
  reason: string,
  work: (tx: Transaction, account: LockedAccount, request: SupportRequest) => Promise<void>,
): Promise<KnownAccount> {
  return inAccounts(environment, name, (database) =>
    database.transaction(async (tx) => {
      const found = await requireAccount(tx, account, 'FOR UPDATE');
      await work(tx, found, { requestId: undefined, traceparent: undefined, author: { staffId: undefined, reason } });
      return withoutVersion(await requireAccount(tx, found.accountId));
    }),
  );
}

type LockedAccount = KnownAccount & { readonly version: number };

function withoutVersion({ version: _, ...account }: LockedAccount): KnownAccount {
  return account;
}

async function requireAccount(tx: Transaction, account: string, lock: 'FOR UPDATE' | '' = ''): Promise<LockedAccount> {
  const id = account.trim().toLowerCase();
  const [found] = await sql<LockedAccount>(tx, `SELECT ${columns}, version FROM accounts WHERE id = $1 ${lock}`, [
    isId(id) ? id : ((await findHolders(tx, account))[0] ?? null),
  ]);
  if (found !== undefined) return found;
  throw new StartError(
    `there is no account ${account}: ${operatorCommand('shop', 'accounts find TEXT')} finds accounts`,
  );
}

function inAccounts<Result>(
  environment: Environment,
  name: string,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name }, use);
}
