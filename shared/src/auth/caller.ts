// The caller of a request. It is read only from the claims of the verified access token, never from a header field.
import type { JWTPayload } from 'jose';
import { isId } from '../runtime/index.ts';

/** The account or the machine that sends a request. Every field is read from a verified access token. */
export interface Caller {
  /** The id of the account, or the client id of a machine, which has no account. */
  readonly accountId: string;
  readonly isMachine: boolean;
  readonly scopes: ReadonlySet<string>;
  /**
   * The number of changes of the account's password or e-mail address when the token was issued. Undefined without such
   * a claim, as in tokens of an external identity provider.
   */
  readonly credentialsVersion: number | undefined;
  /** Whether the e-mail address of the account is verified. False without such a claim. */
  readonly emailVerified: boolean;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The time of the log-in in seconds since 1970. Undefined without such a claim. */
  readonly authTime: number | undefined;
  /** The session of the token. Undefined without such a claim, as in tokens of older releases. */
  readonly sessionId: string | undefined;
}

// RFC 6749 section 3.3: scope tokens are printable ASCII without quote and backslash, one space between them.
const scopeList = /^(?:[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*)?$/;

/**
 * Returns the caller from verified claims, or undefined when a claim has an unsupported type or format. `accountId`
 * must be a lower-case UUID, because every statement compares it with one. A token without an account belongs to a
 * machine: its `client_id` is also its `sub` (RFC 9068 section 2.2).
 */
export function toCaller(claims: JWTPayload): Caller | undefined {
  const { client_id: clientId, scope = '', credentialsVersion, iat, jti, sub } = claims;
  const isMachine = claims.accountId === undefined && clientId !== undefined && clientId === sub;
  const accountId = isMachine ? clientId : claims.accountId;
  const { email_verified: emailVerified = false, auth_time: authTime, sid: sessionId } = claims;
  if (typeof accountId !== 'string' || !isId(accountId)) return undefined;
  if (typeof scope !== 'string' || !scopeList.test(scope)) return undefined;
  if (credentialsVersion !== undefined && !isCount(credentialsVersion)) return undefined;
  if (typeof emailVerified !== 'boolean') return undefined;
  if (authTime !== undefined && typeof authTime !== 'number') return undefined;
  if (iat === undefined) return undefined;
  if (!isShortText(jti) || !isShortText(sub)) return undefined;
  if (sessionId !== undefined && !isShortText(sessionId)) return undefined;
  const scopes = new Set(scope === '' ? [] : scope.split(' '));
  return { accountId, isMachine, scopes, credentialsVersion, emailVerified, issuedAt: iat, authTime, sessionId };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 255;
}
