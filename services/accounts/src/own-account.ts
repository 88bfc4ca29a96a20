// Whose account a path names: `me` and one's own id are the caller's, everything else is forbidden.
import { callerOf, type OperationRequest } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';

/**
 * The id of the account that the request is about.
 * @throws Problem 403 for every other id, whether or not such an account exists: the answer must not tell
 */
export function ownAccountId(request: OperationRequest): string {
  const { accountId } = callerOf(request);
  const named = request.path.accountId;
  if (named !== 'me' && named !== accountId) {
    throw new Problem('forbidden', 'An account can be read and changed by its own holder only.');
  }
  return accountId;
}

/** The caller's token is valid and its account is not here: it comes from an outside identity provider. */
export function noSuchAccount(): Problem {
  return new Problem('not-found', 'There is no account behind this access token.');
}
