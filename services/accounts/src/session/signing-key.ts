// The keys that sign access tokens. Every process reads the table for each use, so a rotation or a revocation takes
// effect everywhere with its COMMIT. Only the decrypted private key is cached.
import { type Database, isDatabaseUnavailable, sql, type Transaction } from '@shop/shared/database';
import { StartError } from '@shop/shared/runtime';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  type JWK,
} from 'jose';
import { longestTokenSeconds } from './access-token-lifetime.ts';
import type { KeyEncryption } from './key-encryption.ts';

export const algorithm = 'ES256';

/**
 * The SQL condition for keys that verifiers need: the current key, the next key, and retired keys with unexpired
 * tokens.
 */
export const isPublished = `state IN ('next', 'current')
  OR (state = 'retiring' AND retired_at > clock_timestamp() - ${longestTokenSeconds} * interval '1 second')`;

export interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

export interface SigningKeys {
  /** Returns the current private key. */
  current(): Promise<SigningKey>;
  /** Returns the public keys that verifiers need (RFC 7517). */
  published(): Promise<readonly JWK[]>;
}

interface CurrentRow {
  readonly kid: string;
  readonly private_key: string;
}

export function followSigningKeys({ pool }: Database, encryption: KeyEncryption): SigningKeys {
  let known: SigningKey | undefined;
  return {
    async current() {
      const { rows } = await pool.query<CurrentRow>(
        "SELECT kid, private_key FROM signing_keys WHERE state = 'current'",
      );
      const [row] = rows;
      if (row === undefined) throw new Error('there is no current signing key');
      if (known?.kid !== row.kid) {
        known = { kid: row.kid, key: await importPKCS8(encryption.decrypt(row.private_key, row.kid), algorithm) };
      }
      return known;
    },
    async published() {
      const { rows } = await pool.query<{ public_jwk: JWK }>(
        `SELECT public_jwk FROM signing_keys WHERE ${isPublished} ORDER BY created_at DESC, kid`,
      );
      return rows.map((row) => row.public_jwk);
    },
  };
}

/**
 * Creates the first keys, once for any number of processes that start concurrently.
 * @throws StartError when the secret is not the one that encrypted the keys
 */
export async function prepareSigningKeys(database: Database, encryption: KeyEncryption): Promise<void> {
  await database.transaction(async (tx) => {
    await lockSigningKeys(tx);
    await fillSigningKeys(tx, encryption);
  });
  await followSigningKeys(database, encryption)
    .current()
    .catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) throw error;
      throw new StartError('KEY_ENCRYPTION_SECRET does not open the signing keys in the database');
    });
}

/** Serializes changes of the keys across processes. Reads do not wait. */
export async function lockSigningKeys(tx: Transaction): Promise<void> {
  await sql(tx, "SELECT pg_advisory_xact_lock(hashtextextended('signing keys ' || current_schema(), 0))");
}

/**
 * Creates the missing keys: the current one at the first start, and a next one after each change. The caller has taken
 * the lock.
 */
export async function fillSigningKeys(tx: Transaction, encryption: KeyEncryption): Promise<void> {
  const states = (await sql<{ state: string }>(tx, 'SELECT DISTINCT state FROM signing_keys')).map(
    ({ state }) => state,
  );
  if (!states.includes('current')) await insertKey(tx, encryption, 'current');
  if (!states.includes('next')) await insertKey(tx, encryption, 'next');
}

async function insertKey(tx: Transaction, encryption: KeyEncryption, state: 'current' | 'next'): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  await sql(
    tx,
    `INSERT INTO signing_keys (kid, state, public_jwk, private_key, current_at)
     VALUES ($1, $2, $3::jsonb, $4, CASE WHEN $2 = 'current' THEN clock_timestamp() END)`,
    [
      kid,
      state,
      JSON.stringify({ ...jwk, kid, alg: algorithm, use: 'sig' }),
      encryption.encrypt(await exportPKCS8(privateKey), kid),
    ],
  );
}
