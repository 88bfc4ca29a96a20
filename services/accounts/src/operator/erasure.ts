// Lets operators request the erasure of an account, and verify that its personal data is deleted.
import { type Database, sql } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { type Environment, newId, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { type AccountDetails, detailColumns, toDetails } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { erasureNotice, isAnswerToRegistration } from '../account/erasure.ts';
import { readDatabaseConfig } from '../config.ts';

/**
 * Schedules the erasure of an account after `days`. The customer can withdraw it as their own request, because another
 * person may have asked the operator. With 0 days it cannot be withdrawn. A repeated call sets the time again. The
 * customer gets an e-mail when there is time to withdraw the erasure, and another one a day before it.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @returns the time of the erasure
 * @throws StartError when the account does not exist
 */
export function eraseAsOperator(environment: Environment, accountId: string, days: number): Promise<Date> {
  return inAccounts(environment, 'accounts erase', (database) =>
    database.transaction(async (tx) => {
      const [account] = await sql<Changed>(
        tx,
        `UPDATE accounts SET erase_at = now() + $2 * interval '1 day', version = version + 1, updated_at = now(),
           reminded_erase_at = CASE WHEN $2 <= 1 THEN now() + $2 * interval '1 day' END
         WHERE id = $1
         RETURNING ${detailColumns}, version,
           erase_at AS "eraseAt"`,
        [accountId, days],
      );
      if (account === undefined) throw new StartError(`there is no account ${accountId}`);
      const eraseAt = account.eraseAt.toISOString();
      await audit(tx, { action: 'erasure-requested', accountId, requestId: undefined, detail: { eraseAt } });
      await appendEvent(tx, {
        type: 'account.updated.v1',
        subject: accountId,
        sequence: account.version,
        data: { ...toDetails(account), ...(days > 0 && (await erasureNotice(tx, account, account.eraseAt))) },
        requestId: newId(),
        traceparent: undefined,
      });
      return account.eraseAt;
    }),
  );
}

type Changed = AccountDetails & { readonly version: number; readonly eraseAt: Date };

const places = `
  SELECT place, rows FROM (
    SELECT 'accounts' AS place, count(*)::int AS rows FROM accounts WHERE id = $1
    UNION ALL SELECT 'audit_log', count(*)::int FROM audit_log
      WHERE account_id = $1 AND (detail <> '{}' OR reason IS NOT NULL)
    UNION ALL SELECT 'outbox', count(*)::int FROM outbox WHERE subject = $1::text AND type <> 'account.erased.v1'
    UNION ALL SELECT 'idempotency_keys', (
      (SELECT count(*) FROM idempotency_keys WHERE account_id = $1::text)
      + (SELECT count(*) FROM idempotency_keys WHERE ${isAnswerToRegistration} AND account_id <> $1::text))::int
  ) AS places WHERE rows > 0`;

/**
 * Returns the number of rows with personal data of the account in each table of accounts.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @returns an empty list when all data is erased
 */
export function findPersonalData(environment: Environment, accountId: string): Promise<Record<string, number>> {
  return inAccounts(environment, 'accounts verify-erased', async ({ pool }) => {
    const { rows } = await pool.query<{ place: string; rows: number }>(places, [accountId]);
    return Object.fromEntries(rows.map((row) => [row.place, row.rows]));
  });
}

function inAccounts<Result>(
  environment: Environment,
  name: string,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name }, use);
}
