// What a genuine token is made of, and how any text becomes a signed one.
import { type KeyObject, sign } from 'node:crypto';

export interface Genuine {
  readonly issuer: string;
  readonly audience: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** An address that nobody may ever be led to. */
  readonly trap: string;
}

export type Members = Record<string, unknown>;

/** A trick and the token, or the whole header value when there is a space in it. */
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
