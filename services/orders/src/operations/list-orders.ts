// GET /v1/orders: one page of the caller's orders; with the scope `orders:read-all` also of the orders of another
// account, or of all accounts.
import { fromQuery, readPage } from '@shop/shared/collection';
import { requireCaller } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import { parseId } from '@shop/shared/runtime';
import type { Operation } from '../context.ts';
import { isStaff } from '../order/order.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 403 for orders of other accounts. */
export const listOrders: Operation<'listOrders'> = async (request, { database, orders }) => {
  const caller = requireCaller(request);
  const { accountId, faults } = readAccount(request.query.accountId);
  if (caller.isMachine && accountId === 'me') {
    throw new Problem('forbidden', 'A machine owns no orders.', {
      errors: [{ parameter: 'accountId', detail: 'must be all or an account' }],
    });
  }
  const account = accountId === 'me' ? caller.accountId : accountId;
  if (account !== caller.accountId && !caller.scopes.has('orders:read-all')) {
    throw new Problem('forbidden', 'These are the orders of other accounts.', {
      errors: [{ parameter: 'accountId', detail: 'must be me or your own account' }],
    });
  }
  const ofAll = account === 'all';
  const collection = orders.lists[ofAll ? 'all' : isStaff(caller) ? 'account' : 'own'];
  const scope = ofAll ? {} : { account };
  const criteria = fromQuery(collection.spec, request.query, [...faults, ...request.faults]);
  return readPage({ collection, criteria, pool: database.pool, scope, context: caller, url: request.url });
};

/** Returns the account of the parameter, in lower case. With a fault, it is the caller's own. */
function readAccount(given: unknown = 'me'): { readonly accountId: string; readonly faults: readonly Fault[] } {
  const text = String(given);
  const accountId = text === 'me' || text === 'all' ? text : parseId(text);
  const fault = { parameter: 'accountId', detail: 'must be me, all or an account id' };
  return accountId === undefined ? { accountId: 'me', faults: [fault] } : { accountId, faults: [] };
}
