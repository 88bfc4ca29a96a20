// The parts of a genuine token, and a function that signs arbitrary texts.
import { type KeyObject, sign } from 'node:crypto';

export interface Genuine {
  readonly issuer: string;
  readonly audience: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The address of a foreign host that the gateway must never ask. */
  readonly trap: string;
}

export type Members = Record<string, unknown>;

/** A trick and its token, or the whole header value when it contains a space. */
export type Attempt = readonly [trick: string, token: string];

export const accountId = '01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c70';

export function goodClaims({ issuer, audience }: Genuine): Members {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: audience, sub: accountId, accountId, scope: '', iat: now, exp: now + 900, jti: 'j-1' };
}

export function goodHeader({ kid }: Genuine): Members {
  return { alg: 'ES256', kid, typ: 'at+jwt' };
}

/** A token over exactly these texts, signed as ES256. */
export function signed(header: Members | string, payload: Members | string, key: KeyObject): string {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

export function encode(value: Members | string): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}
