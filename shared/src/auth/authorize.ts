// Decides whether a caller may call an operation. The gateway and every service use it, so both return the same
// problem.
import type { Security } from '../contract/index.ts';
import { Problem } from '../problem/index.ts';
import type { Caller } from './caller.ts';
import { bearerChallenge, tokenAdvice } from './verify-token.ts';

/**
 * Returns when the caller may call the operation, which needs a token (RFC 6750 section 3.1).
 * @throws Problem `unauthenticated` when the caller is anonymous
 * @throws Problem `forbidden` when the caller lacks one of the operation's scopes, or is a machine and the operation is
 * for customers
 */
export function authorize(caller: Caller | undefined, { scopes, machineScopes }: Security): void {
  if (caller === undefined) {
    const headers = { 'WWW-Authenticate': bearerChallenge() };
    throw new Problem('unauthenticated', `This operation needs an access token. ${tokenAdvice}`, { headers });
  }
  if (caller.isMachine && scopes.length === 0) {
    if (machineScopes.some((scope) => caller.scopes.has(scope))) return;
    const headers = { 'WWW-Authenticate': bearerChallenge('insufficient_scope') };
    throw new Problem('forbidden', 'This operation acts for the holder of an account, and a machine has none.', {
      headers,
    });
  }
  if (scopes.every((needed) => caller.scopes.has(needed))) return;
  const scope = scopes.join(' ');
  const headers = { 'WWW-Authenticate': bearerChallenge('insufficient_scope', { scope }) };
  throw new Problem('forbidden', `This operation needs the scope ${scope}.`, { headers });
}
