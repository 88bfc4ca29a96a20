// The only module that converts a bearer token to a caller. The gateway and every service use it.
import { type CryptoKey, errors, type JWTPayload, jwtVerify } from 'jose';
import { Problem } from '../problem/index.ts';
import type { Log } from '../runtime/index.ts';
import { type Caller, toCaller } from './caller.ts';
import { readTokenHeader } from './compact-token.ts';
import type { TokenAlgorithm } from './key-rules.ts';
import { followKeySet } from './key-set.ts';

export interface TokenVerifierOptions {
  readonly jwksUrl: string | URL;
  readonly issuer: string;
  readonly audience: string;
  readonly log: Log;
  /** The pinned signature algorithm; `ES256` unless an outside identity provider signs with another. */
  readonly algorithm?: TokenAlgorithm;
}

export interface TokenVerifier {
  /**
   * Returns the caller of an `Authorization` header; undefined only when the header is missing.
   * @throws Problem `unauthenticated` for a header that is not a valid access token (RFC 6750, RFC 9068), and for a
   * token of a session that ended
   * @throws Problem `service-unavailable` while the issuer's keys have never been loaded
   */
  verify(authorization: string | undefined): Promise<Caller | undefined>;
  /**
   * Returns the caller of an `Authorization` header with a token that was verified before. Undefined when the token has
   * to be verified, or is no longer valid.
   */
  known(authorization: string): Caller | undefined;
  /** Stops the background refresh of the key set and of the ended sessions. */
  close(): Promise<void>;
}

interface Verified {
  readonly caller: Caller;
  readonly kid: string;
  readonly key: CryptoKey;
  /** Unix time in seconds after which the token is rejected. */
  readonly until: number;
}

const tokenType = 'at+jwt';
const prefixedTokenType = `application/${tokenType}`;
const clockTolerance = 5;
const maximumVerified = 10_000;
const bearerScheme = /^bearer(?: |$)/i;
// Only the token is the key of the cache, because the header around it can be written in many ways.
const bearer = /^bearer {1,8}([^ ]+)$/i;
const required = ['iss', 'aud', 'sub', 'exp', 'iat', 'jti'];

/** Creates a verifier for the access tokens of one issuer. Algorithm, issuer, audience and type are fixed. */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { issuer, audience, log, algorithm = 'ES256' } = options;
  const keys = followKeySet(new URL(options.jwksUrl), algorithm, log);
  const checks = {
    algorithms: [algorithm],
    issuer,
    audience,
    typ: tokenType,
    clockTolerance,
    requiredClaims: required,
  };
  // Without this cache, a request to the gateway costs twice the processor time.
  const verified = new Map<string, Verified>();

  async function check(token: string): Promise<Verified> {
    const header = readTokenHeader(token);
    if (header?.kid === undefined || header.alg !== algorithm || !isTokenType(header.typ)) throw invalidToken();
    const key = await keys.find(header.kid);
    if (key === undefined) throw invalidToken();
    const { payload } = await jwtVerify(token, key, checks).catch((error: unknown) => {
      throw error instanceof errors.JWTExpired ? invalidToken('The access token has expired.') : invalidToken();
    });
    const caller = toCaller(payload);
    if (caller === undefined || !hasSaneTimes(payload)) throw invalidToken();
    return { caller, kid: header.kid, key, until: (payload.exp ?? 0) + clockTolerance };
  }

  function findVerified(token: string): Verified | undefined {
    const known = verified.get(token);
    if (known === undefined) return undefined;
    // A cache entry is valid as long as its token and its key. A revoked key is missing, and a replaced key is another
    // object.
    if (known.until > Date.now() / 1000 && keys.current(known.kid) === known.key) return known;
    verified.delete(token);
    return undefined;
  }

  async function verifyAnew(token: string): Promise<Verified> {
    const fresh = await check(token);
    const oldest = verified.size < maximumVerified ? undefined : verified.keys().next().value;
    if (oldest !== undefined) verified.delete(oldest);
    verified.set(token, fresh);
    return fresh;
  }

  const hasEnded = ({ sessionId }: Caller) => sessionId !== undefined && keys.hasEnded(sessionId);

  return {
    known(authorization) {
      const token = bearer.exec(authorization)?.[1];
      const caller = token === undefined ? undefined : findVerified(token)?.caller;
      return caller === undefined || hasEnded(caller) ? undefined : caller;
    },
    async verify(authorization) {
      if (authorization === undefined) return undefined;
      const token = bearer.exec(authorization)?.[1];
      if (token === undefined) throw bearerScheme.test(authorization) ? invalidToken(noToken) : otherScheme();
      const { caller } = findVerified(token) ?? (await verifyAnew(token));
      if (hasEnded(caller)) {
        throw invalidToken('The session of this access token has ended. Log in again.');
      }
      return caller;
    },
    close: () => keys.close(),
  };
}

/**
 * Returns the value of `WWW-Authenticate` (RFC 6750 section 3).
 * @param error absent when the request has no token
 */
export function bearerChallenge(
  error?: 'invalid_token' | 'insufficient_scope',
  attributes: Record<string, string> = {},
) {
  const all = { realm: 'shop', ...(error === undefined ? {} : { error }), ...attributes };
  const parameters = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
  return `Bearer ${parameters.join(', ')}`;
}

/**
 * Compares a media type without regard to case and an optional `application/` (RFC 9068 section 4, RFC 7515 section
 * 4.1.9).
 */
function isTokenType(typ: string): boolean {
  return [tokenType, prefixedTokenType].includes(typ.toLowerCase());
}

const noToken = 'The Authorization header holds no bearer token.';
export const tokenAdvice = 'POST /v1/tokens returns one; send it as "Authorization: Bearer TOKEN".';

/**
 * Returns the problem for credentials of another scheme. They count as no credentials, so the challenge has no error
 * (RFC 6750 section 3.1).
 */
function otherScheme(): Problem {
  return new Problem('unauthenticated', `${noToken} ${tokenAdvice}`, {
    headers: { 'WWW-Authenticate': bearerChallenge() },
  });
}

function invalidToken(detail = 'The access token is not valid.'): Problem {
  const challenge = bearerChallenge('invalid_token', { error_description: detail });
  return new Problem('unauthenticated', detail, { headers: { 'WWW-Authenticate': challenge } });
}

/** Checks the times. jose compares them but accepts any number. For example, a token with `1e400` never expires. */
function hasSaneTimes({ iat = 0, exp = 0 }: JWTPayload): boolean {
  return (
    Number.isFinite(exp) && Number.isFinite(iat) && iat > 0 && iat <= exp && iat <= Date.now() / 1000 + clockTolerance
  );
}
