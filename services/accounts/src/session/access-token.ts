// Access tokens, by which the gateway and every service identify a caller (RFC 9068).
import { newId } from '@shop/shared/runtime';
import { type JWTPayload, SignJWT } from 'jose';
import { accessTokenSeconds } from './access-token-lifetime.ts';
import type { LoggedInMachine } from './machine.ts';
import { algorithm, type SigningKey } from './signing-key.ts';

export interface TokenIssuer {
  /** JWT_ISSUER and JWT_AUDIENCE, the same values that the verifiers require. */
  readonly issuer: string;
  readonly audience: string;
}

export interface TokenSession {
  readonly sessionId: string;
  /** The time of the log-in in seconds since 1970; undefined for a log-in now. */
  readonly authTime: number | undefined;
}

/** Signs a token of a machine, which has no account: the claim `client_id` is also its `sub` (RFC 9068 section 2.2). */
export function signMachineToken(
  key: SigningKey,
  tokenIssuer: TokenIssuer,
  { clientId, scopes, sessionId }: LoggedInMachine,
): Promise<string> {
  const claims = { client_id: clientId, scope: scopes.join(' '), sid: sessionId };
  return sign(key, tokenIssuer, clientId, claims, secondsNow());
}

/**
 * Returns a token that is valid for 15 minutes, with the present scopes of the account. The claim `sid` is that of
 * OpenID Connect Front-Channel Logout 1.0, section 3.
 */
export function signAccessToken(
  key: SigningKey,
  tokenIssuer: TokenIssuer,
  account: {
    readonly id: string;
    readonly scopes: readonly string[];
    readonly credentialsVersion: number;
    readonly emailVerified: boolean;
  },
  { sessionId, authTime }: TokenSession,
): Promise<string> {
  const { id: accountId, credentialsVersion, emailVerified } = account;
  const scope = account.scopes.join(' ');
  const now = secondsNow();
  const auth_time = authTime ?? now;
  const claims = { accountId, scope, credentialsVersion, email_verified: emailVerified, auth_time, sid: sessionId };
  return sign(key, tokenIssuer, accountId, claims, now);
}

const secondsNow = (): number => Math.floor(Date.now() / 1000);

function sign(
  { kid, key }: SigningKey,
  { issuer, audience }: TokenIssuer,
  subject: string,
  claims: JWTPayload,
  now: number,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt(now)
    .setExpirationTime(now + accessTokenSeconds)
    .setJti(newId())
    .sign(key);
}
