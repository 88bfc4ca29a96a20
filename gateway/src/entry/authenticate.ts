// Step `authenticate`: verifies the access token and checks that the contract admits its account.
import { authorize, type TokenVerifier } from '@shop/shared/auth';
import type { OperationOutline } from '@shop/shared/contract';
import type { GatewayRequest } from './gateway-request.ts';
import type { Step } from './policy.ts';

/**
 * Checks whether the operation requires a token and scopes, as its contract defines. The services verify the token
 * again.
 *
 * A rejected request is counted like any other: by account when only a scope is missing, otherwise by client network.
 * The token is verified even when the network has used up its limit. Otherwise one client that guesses tokens would
 * exclude the valid new tokens of its whole network.
 * @param countRequest subtracts a rejected request from its rate limit; throws Problem 429 when the limit is used up
 */
export function authenticate(verifier: TokenVerifier, countRequest: (request: GatewayRequest) => Promise<void>): Step {
  const verify = async (request: GatewayRequest, security: OperationOutline['security']): Promise<void> => {
    try {
      request.caller = await verifier.verify(request.authorization);
      authorize(request.caller, security);
    } catch (refusal) {
      await countRequest(request);
      throw refusal;
    }
    request.authenticated = true;
  };
  return (request) => {
    const security = request.operation?.security;
    // Where no token is needed it is not verified, so that an invalid one does not prevent a new log-in.
    if (security?.access === 'required') return verify(request, security);
    request.authenticated = true;
    return undefined;
  };
}
