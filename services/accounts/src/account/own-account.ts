// Reads the account in a path. `me` and the caller's own id are permitted; every other id is forbidden.
import { type OperationRequest, requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';

/**
 * Returns the id of the caller's account from the path.
 * @throws Problem 403 for every other id, whether or not the account exists, so that the response does not reveal it
 */
export function ownAccountId(request: OperationRequest): string {
  const { accountId } = requireCaller(request);
  const named = request.path.accountId;
  if (named !== 'me' && named !== accountId) {
    throw new Problem('forbidden', 'An account can be read and changed by its own holder only.');
  }
  return accountId;
}

/**
 * Returns the problem for a valid token with an account that does not exist here, because an external identity provider
 * issued the token.
 */
export function noSuchAccount(): Problem {
  return new Problem('not-found', 'There is no account behind this access token.');
}
