// Policy `authenticate`: who is calling, and whether the operation's contract lets them; services ask again themselves.
import { authorize, type TokenVerifier } from '@shop/shared/auth';
import { actionSchema, type GatewayRequest, type Policy } from './gateway-request.ts';

/**
 * Public, optional or required, and the scopes, come from the contract of the operation. Whom it refuses, `limit` counts first and
 * then says the refusal: it has to come next. Whose token is valid and lacks a scope is counted by the account, everybody else by
 * the address. The signature is checked even when the address has nothing left, or one guesser would shut out the valid new tokens
 * of all who share its address.
 */
export function authenticate(verifier: TokenVerifier): Policy {
  return {
    name: 'authenticate',
    schema: actionSchema('authenticate'),
    policy: () => (request, _response, next) => {
      identify(request, verifier).then(
        () => next(),
        (refusal: unknown) => {
          request.refusal = refusal;
          next();
        },
      );
    },
  };
}

async function identify(request: GatewayRequest, verifier: TokenVerifier): Promise<void> {
  const security = request.operation?.security;
  // A public operation does not look at a token, so a bad one cannot keep a client from logging in again.
  if (security !== undefined && security.access !== 'public') {
    request.caller = await verifier.verify(request.authorization);
    authorize(request.caller, security);
  }
  request.identified = true;
}
