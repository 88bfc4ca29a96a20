// GET /v1/accounts/{accountId}/audit: one page of the audit log of an account.
import { fromQuery, readPage } from '@shop/shared/collection';
import type { Operation } from '../context.ts';
import { noSuchAccount } from '../support/account-for-support.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 404 for an account that never existed. */
export const listAccountAudit: Operation<'listAccountAudit'> = async (request, { database, support }) => {
  const { accountId } = request.path;
  const { audit: collection } = support;
  const criteria = fromQuery(collection.spec, request.query, request.faults);
  // The query checks for entries instead of the account, because entries are stored longer than their account.
  const { rows } = await database.pool.query(
    `SELECT WHERE EXISTS (SELECT FROM accounts WHERE id = $1) OR EXISTS (SELECT FROM audit_log WHERE account_id = $1)`,
    [accountId],
  );
  if (rows.length === 0) throw noSuchAccount();
  const scope = { account: accountId };
  return readPage({ collection, criteria, pool: database.pool, scope, context: undefined, url: request.url });
};
