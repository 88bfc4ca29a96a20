// The rules for a published key set, which are checked before any of its keys is used: one algorithm, strong keys, no
// duplicates.
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose';

/** The signature algorithms. A verifier accepts one of them (RFC 7518 section 3.1, RFC 8037). */
export const tokenAlgorithms = ['ES256', 'EdDSA', 'RS256', 'PS256'] as const;
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

export interface VerificationKey {
  readonly kid: string;
  /** The same key material has the same thumbprint under every id (RFC 7638). */
  readonly thumbprint: string;
  readonly key: CryptoKey;
}

const maximumKeys = 32;
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const fits: Record<TokenAlgorithm, (jwk: JWK) => boolean> = {
  ES256: (jwk) => jwk.kty === 'EC' && jwk.crv === 'P-256',
  EdDSA: (jwk) => jwk.kty === 'OKP' && jwk.crv === 'Ed25519',
  RS256: isStrongRsa,
  PS256: isStrongRsa,
};

/**
 * Parses a JWK Set (RFC 7517 section 5) as a whole. One invalid key invalidates the set, because a set with a weak,
 * private, foreign or duplicate key was published by mistake.
 * @throws Error that describes the fault of the set
 */
export async function readKeySet(
  document: unknown,
  algorithm: TokenAlgorithm,
): Promise<ReadonlyMap<string, VerificationKey>> {
  const listed = typeof document === 'object' && document !== null && 'keys' in document ? document.keys : undefined;
  if (!Array.isArray(listed)) throw new Error('the key set has no list of keys');
  if (listed.length > maximumKeys) throw new Error(`the key set has more than ${maximumKeys} keys`);
  const keys = new Map<string, VerificationKey>();
  const thumbprints = new Set<string>();
  for (const jwk of listed) {
    const key = await readKey(jwk, algorithm);
    if (keys.has(key.kid)) throw new Error(`the key set has two keys with the id ${key.kid}`);
    if (thumbprints.has(key.thumbprint)) throw new Error(`the key set has the key ${key.kid} twice`);
    keys.set(key.kid, key);
    thumbprints.add(key.thumbprint);
  }
  return keys;
}

async function readKey(jwk: JWK, algorithm: TokenAlgorithm): Promise<VerificationKey> {
  const kid: unknown = jwk?.kid;
  if (typeof kid !== 'string' || kid === '' || kid.length > 255) throw new Error('a key has no usable id');
  if (privateMembers.some((member) => Object.hasOwn(jwk, member))) throw new Error(`the key ${kid} is not public`);
  const meant = (jwk.alg ?? algorithm) === algorithm && (jwk.use ?? 'sig') === 'sig';
  const verifies = jwk.key_ops === undefined || (jwk.key_ops.length === 1 && jwk.key_ops[0] === 'verify');
  if (!meant || !verifies || !fits[algorithm](jwk)) throw new Error(`the key ${kid} is no strong ${algorithm} key`);
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array) throw new Error(`the key ${kid} is not public`);
  return { kid, thumbprint: await calculateJwkThumbprint(jwk), key };
}

function isStrongRsa(jwk: JWK): boolean {
  const modulus = Buffer.from(jwk.n ?? '', 'base64url');
  return jwk.kty === 'RSA' && jwk.e === 'AQAB' && modulus.length >= 256 && (modulus[0] ?? 0) >= 128;
}
