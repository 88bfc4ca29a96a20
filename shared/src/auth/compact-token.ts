// Parses a token strictly before any cryptography, so that rejecting a malformed token is cheap.
import { jsonSize } from '../json/index.ts';

/** The protected header, reduced to its permitted members. */
export interface TokenHeader {
  readonly alg: string;
  readonly typ: string;
  readonly kid?: string;
}

const maximumLength = 8 * 1024;
const segments = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
// Any other member (`jwk`, `jku`, `x5u`, `x5c`, `crit`, `b64`, `zip` …) would let the token choose how it is verified.
const headerMembers = new Set(['alg', 'typ', 'kid']);
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Returns the header of a token in JWS compact serialization (RFC 7515 section 7.1), or undefined for a malformed
 * token. Malformed means: more than 8 KiB, invalid characters, padding or unused bits, invalid UTF-8, a header or
 * payload that is not a JSON object, a duplicate member (RFC 7515 section 4), or a header member other than `alg`,
 * `typ` and `kid`.
 */
export function readTokenHeader(token: string): TokenHeader | undefined {
  if (token.length > maximumLength) return undefined;
  const [, header, payload, signature] = segments.exec(token) ?? [];
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  if (!isCanonical(signature) || readObject(payload) === undefined) return undefined;
  const members = readObject(header);
  if (members === undefined || !Object.keys(members).every((name) => headerMembers.has(name))) return undefined;
  const { alg, typ, kid } = members;
  if (typeof alg !== 'string' || typeof typ !== 'string') return undefined;
  if (kid === undefined) return { alg, typ };
  return typeof kid === 'string' && kid.length > 0 && kid.length <= 255 ? { alg, typ, kid } : undefined;
}

/**
 * Returns whether a segment is the only valid encoding of its bytes, so that two different strings with the same bytes
 * are not both accepted.
 */
function isCanonical(segment: string): boolean {
  return Buffer.from(segment, 'base64url').toString('base64url') === segment;
}

function readObject(segment: string): Record<string, unknown> | undefined {
  if (!isCanonical(segment)) return undefined;
  try {
    const text = decoder.decode(Buffer.from(segment, 'base64url'));
    const value: unknown = JSON.parse(text);
    // JSON.parse returns the last of two equal members, so the value then has fewer members than the JSON text.
    if (!isObject(value) || countMembers(value) !== jsonSize(text).members) return undefined;
    return value;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((total, member) => total + countMembers(member), own);
}
