// The parameter `accountId` of a list of orders or returns.
import { type OperationRequest, requireCaller } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import { parseId } from '@shop/shared/runtime';

/**
 * Returns the account whose orders or returns are listed, or `all`. With a fault, it is the caller's own.
 * @throws Problem 403 for other accounts, unless `readsAll`; and for a machine that lists its own
 */
export function readListedAccount(
  request: OperationRequest,
  what: 'orders' | 'returns',
  readsAll: boolean,
): { readonly account: string; readonly faults: readonly Fault[] } {
  const caller = requireCaller(request);
  const { accountId, faults } = readAccount(request.query.accountId);
  if (caller.isMachine && accountId === 'me') {
    throw new Problem('forbidden', `A machine owns no ${what}.`, {
      errors: [{ parameter: 'accountId', detail: 'must be all or an account' }],
    });
  }
  const account = accountId === 'me' ? caller.accountId : accountId;
  if (account !== caller.accountId && !readsAll) {
    throw new Problem('forbidden', `These are the ${what} of other accounts.`, {
      errors: [{ parameter: 'accountId', detail: 'must be me or your own account' }],
    });
  }
  return { account, faults };
}

/** Returns the account of the parameter, in lower case. */
function readAccount(given: unknown = 'me'): { readonly accountId: string; readonly faults: readonly Fault[] } {
  const text = String(given);
  const accountId = text === 'me' || text === 'all' ? text : parseId(text);
  const fault = { parameter: 'accountId', detail: 'must be me, all or an account id' };
  return accountId === undefined ? { accountId: 'me', faults: [fault] } : { accountId, faults: [] };
}
