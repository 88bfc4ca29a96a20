// GET /v1/returns: one page of the caller's returns; for staff also of the returns of another account, or of all
// accounts.
import { fromQuery, readPage } from '@shop/shared/collection';
import { requireCaller } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { readListedAccount } from '../order/listed-account.ts';
import { isStaff } from '../order/order.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 403 for returns of other accounts. */
export const listReturns: Operation<'listReturns'> = async (request, { database, returns }) => {
  const caller = requireCaller(request);
  const { account, faults } = readListedAccount(request, 'returns', isStaff(caller));
  const collection = returns.lists[account === 'all' ? 'all' : 'account'];
  const scope = account === 'all' ? {} : { account };
  const criteria = fromQuery(collection.spec, request.query, [...faults, ...request.faults]);
  return readPage({ collection, criteria, pool: database.pool, scope, context: caller, url: request.url });
};
