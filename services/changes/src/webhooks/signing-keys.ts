// The keys of the signatures of RFC 9421. Receivers read the public ones from the key set of webhooks.
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import type { Secrets } from '@shop/shared/runtime';

export interface SigningKey {
  readonly id: string;
  /** Returns the signature in Base64. */
  sign(text: string): string;
}

/** A public key as a JSON Web Key (RFC 8037). */
export interface WebhookKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

/** What precedes the 32 bytes of a private Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function privateKeyOf(secret: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'webhook signatures', 32));
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
}

function publicKeyOf(secret: string): WebhookKey {
  const { x = '' } = createPublicKey(privateKeyOf(secret)).export({ format: 'jwk' });
  // RFC 7638: the members in the order of their names.
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' };
}

/** Returns the key that signs: that of the first secret. */
export function openSigningKey([first]: Secrets): SigningKey {
  const key = privateKeyOf(first);
  return { id: publicKeyOf(first).kid, sign: (text) => sign(null, Buffer.from(text), key).toString('base64') };
}

/** Returns the key set that receivers read. It has the keys of all secrets, so that the first one can be replaced. */
export function toKeySet(secrets: Secrets): { readonly keys: readonly WebhookKey[] } {
  return { keys: secrets.map(publicKeyOf) };
}
