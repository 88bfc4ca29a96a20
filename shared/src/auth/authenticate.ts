// Authenticates the caller of an operation by the token of the request.
import type { Request } from 'express';
import type { Security } from '../contract/index.ts';
import { Problem } from '../problem/index.ts';
import { authorize } from './authorize.ts';
import type { Caller } from './caller.ts';
import type { ServiceTokens } from './service-token.ts';
import type { TokenVerifier } from './verify-token.ts';

export interface Authentication {
  readonly caller?: Caller | undefined;
  /** The header that states why the token of the request has no effect. */
  readonly challenge?: Readonly<Record<string, string>> | undefined;
}

/** @throws Problem when the operation does not permit the caller */
export async function authenticate(
  verifier: TokenVerifier | undefined,
  security: Security,
  authorization: string | undefined,
): Promise<Authentication> {
  if (security.access === 'public' || security.access === 'service') return {};
  if (verifier === undefined) throw new Error('an operation that takes an access token needs a token verifier');
  if (security.access === 'optional') return authenticateOptionally(verifier, security.scopes, authorization);
  const caller = await verifier.verify(authorization);
  authorize(caller, security);
  return { caller };
}

/**
 * Treats an invalid token as anonymous, because an expired token must not prevent reading. The header states that a
 * valid token would change the response (RFC 9110 section 11.6.1).
 */
async function authenticateOptionally(
  verifier: TokenVerifier,
  scopes: readonly string[],
  authorization: string | undefined,
): Promise<Authentication> {
  try {
    const caller = await verifier.verify(authorization);
    return { caller: scopes.every((needed) => caller?.scopes.has(needed)) ? caller : undefined };
  } catch (error) {
    return error instanceof Problem && error.code === 'unauthenticated' ? { challenge: error.headers } : {};
  }
}

/** Returns whether a token that was verified before is still valid. A request without a token needs none. */
export function isStillValid(verifier: TokenVerifier | undefined, authorization: string | undefined): Promise<boolean> {
  if (verifier === undefined) return Promise.resolve(true);
  return verifier.verify(authorization).then(
    () => true,
    (error: unknown) => !(error instanceof Problem && error.code === 'unauthenticated'),
  );
}

/** Verifies the token of an internal call after its body has arrived, because the token covers the body. */
export function requireServiceToken(
  { name, serviceTokens }: { readonly name: string; readonly serviceTokens?: ServiceTokens },
  { method, url: path, headers }: Request,
  body: Uint8Array | undefined,
): void {
  if (serviceTokens === undefined) throw new Error('an internal operation needs service tokens');
  serviceTokens.verify(headers.authorization, name, { method, path, body: body ?? '' });
}
