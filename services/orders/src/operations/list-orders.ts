// GET /v1/orders: one page of the caller's orders; with the scope `orders:read-all` also of the orders of another
// account, or of all accounts.
import { fromQuery, readPage } from '@shop/shared/collection';
import { requireCaller } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { readListedAccount } from '../order/listed-account.ts';
import { isStaff } from '../order/order.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 403 for orders of other accounts. */
export const listOrders: Operation<'listOrders'> = async (request, { database, orders }) => {
  const caller = requireCaller(request);
  const { account, faults } = readListedAccount(request, 'orders', caller.scopes.has('orders:read-all'));
  const ofAll = account === 'all';
  const collection = orders.lists[ofAll ? 'all' : isStaff(caller) ? 'account' : 'own'];
  const scope = ofAll ? {} : { account };
  const criteria = fromQuery(collection.spec, request.query, [...faults, ...request.faults]);
  return readPage({ collection, criteria, pool: database.pool, scope, context: caller, url: request.url });
};
