// Policy `authenticate`: who is calling, and whether the operation's contract lets them; services ask again themselves.
import { bearerChallenge, hasScopes, type TokenVerifier } from '@shop/shared/auth';
import { Problem } from '@shop/shared/protocol';
import { actionSchema, type GatewayRequest, type Policy } from './exchange.ts';

/**
 * Public, optional or required, and the scopes, come from the contract of the operation. Whom it refuses, `limit` counts first, by
 * the address, like whoever brings no token, and then says the refusal: it has to come next. The signature is checked even when
 * the address has nothing left, or one guesser would shut out the valid new tokens of all who share its address.
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
  const { access, scopes } = request.operation?.security ?? { access: 'public', scopes: [] };
  // A public operation does not look at a token, so a bad one cannot keep a client from logging in again.
  if (access !== 'public') {
    request.caller = await verifier.verify(request.authorization);
    if (request.caller === undefined && access !== 'optional') throw missingToken();
    if (request.caller !== undefined && !hasScopes(request.caller, scopes)) throw missingScope(scopes);
  }
  request.identified = true;
}

function missingToken(): Problem {
  const headers = { 'WWW-Authenticate': bearerChallenge() };
  return new Problem('unauthenticated', 'This operation needs an access token.', { headers });
}

function missingScope(scopes: readonly string[]): Problem {
  const scope = scopes.join(' ');
  const headers = { 'WWW-Authenticate': bearerChallenge('insufficient_scope', { scope }) };
  return new Problem('forbidden', `This operation needs the scope ${scope}.`, { headers });
}
