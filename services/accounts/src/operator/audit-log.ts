// Lets operators read the audit log: the changes of accounts, with their author and reason.
import { type Environment, isId } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { emailKey } from '@shop/shared/shop';
import { authorSql } from '../account/audit.ts';
import { mailboxCondition } from '../account/mailbox.ts';
import { readDatabaseConfig } from '../config.ts';

export interface RecordedEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly action: string;
  /** Null when no account has the e-mail address of the attempt. */
  readonly accountId: string | null;
  /** Null also when the account was erased. */
  readonly email: string | null;
  readonly by: 'client' | 'staff' | 'operator';
  readonly staffId: string | null;
  readonly reason: string | null;
  readonly requestId: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  /** The id or e-mail address of the account. */
  readonly account?: string;
  readonly action?: string;
  /** A time in RFC 3339. */
  readonly since?: string;
  readonly limit: number;
}

/**
 * Returns the latest entries that meet the filter, newest first.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 */
export function readAuditLog(environment: Environment, filter: AuditFilter): Promise<RecordedEntry[]> {
  const { account, action, since, limit } = filter;
  const values: (string | number)[] = [limit];
  const conditions: string[] = [];
  const add = (value: string, condition: (parameter: string) => string): void => {
    conditions.push(condition(`$${values.push(value)}`));
  };
  // A search by id also finds entries of an account that was erased.
  const id = account?.trim().toLowerCase() ?? '';
  if (isId(id)) add(id, (parameter) => `log.account_id = ${parameter}::uuid`);
  else if (account !== undefined) {
    add(
      emailKey(account),
      (key) => `log.account_id IN (SELECT id FROM accounts WHERE ${mailboxCondition(`${key}::text`)})`,
    );
  }
  if (action !== undefined) add(action, (parameter) => `log.action = ${parameter}`);
  if (since !== undefined) add(since, (parameter) => `log.created_at >= ${parameter}::timestamptz`);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'audit' }, async ({ pool }) => {
    const { rows } = await pool.query<RecordedEntry>(
      `SELECT log.id, log.created_at AS "createdAt", action, log.account_id AS "accountId", email, ${authorSql} AS by,
         staff_id AS "staffId", reason, request_id AS "requestId", detail
       FROM audit_log AS log LEFT JOIN accounts ON accounts.id = log.account_id ${where}
       ORDER BY log.created_at DESC, log.id DESC LIMIT $1`,
      values,
    );
    return rows;
  });
}
