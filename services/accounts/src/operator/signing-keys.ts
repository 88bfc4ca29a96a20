// Operators list, rotate, revoke and check the keys that sign access tokens. Services and gateway follow each change.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { type Environment, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { operatorCommand } from '@shop/shared/shop';
import { readKeyStoreConfig } from '../config.ts';
import { createKeyEncryption, type KeyEncryption } from '../session/key-encryption.ts';
import { fillSigningKeys, isPublished, lockSigningKeys } from '../session/signing-key.ts';

export interface ListedKey {
  readonly kid: string;
  readonly state: 'next' | 'current' | 'retiring' | 'revoked';
  /** Whether the key set contains it. */
  readonly published: boolean;
  readonly createdAt: Date;
  readonly currentAt: Date | null;
  readonly retiredAt: Date | null;
  readonly revokedAt: Date | null;
}

// Milliseconds for which a key is published before it signs. Verifiers read the key set once a second, so all of them
// have read it by then.
const publishedBefore = 3_000;
// Verifiers reject a set of more than 32 keys.
const maximumPublished = 30;

/**
 * Lists all keys, newest first, revoked ones included.
 * @param environment the variables of accounts, of which DATABASE_URL and KEY_ENCRYPTION_SECRET are read
 */
export async function listSigningKeys(environment: Environment): Promise<ListedKey[]> {
  return withKeyStore(environment, listKeys);
}

/**
 * Rotates the keys as `rotateKeys` does.
 * @returns the keys after the rotation
 */
export async function rotateSigningKeys(environment: Environment): Promise<ListedKey[]> {
  return withKeyStore(environment, async (database, encryption) => {
    await rotateKeys(database, encryption);
    return listKeys(database);
  });
}

/**
 * Revokes a key as `revokeKey` does.
 * @returns the keys after the revocation
 */
export async function revokeSigningKey(environment: Environment, kid: string): Promise<ListedKey[]> {
  return withKeyStore(environment, async (database, encryption) => {
    await revokeKey(database, encryption, kid);
    return listKeys(database);
  });
}

/**
 * Decrypts every private key to check the secret, and changes nothing.
 * @returns the keys
 * @throws StartError when KEY_ENCRYPTION_SECRET is not the secret that encrypted them
 */
export async function checkSigningKeys(environment: Environment): Promise<ListedKey[]> {
  return withKeyStore(environment, async (database, encryption) => {
    await requireDecryptable(database, encryption);
    return listKeys(database);
  });
}

async function withKeyStore<T>(
  environment: Environment,
  use: (database: Database, encryption: KeyEncryption) => Promise<T>,
): Promise<T> {
  const { databaseUrl: url, keyEncryptionSecrets } = readKeyStoreConfig(environment);
  return withDatabase({ url, name: 'accounts keys' }, (database) =>
    use(database, createKeyEncryption(keyEncryptionSecrets)),
  );
}

/** Returns all keys, newest first. */
export async function listKeys({ pool }: Database): Promise<ListedKey[]> {
  const { rows } = await pool.query<ListedKey>(
    `SELECT kid, state, (${isPublished}) AS published, created_at AS "createdAt", current_at AS "currentAt",
       retired_at AS "retiredAt", revoked_at AS "revokedAt"
     FROM signing_keys ORDER BY created_at DESC, kid`,
  );
  return rows;
}

/**
 * Makes the next key the current one. The previous key stays published until its last token has expired. The function
 * waits until all verifiers have read the next key, so that no valid token is rejected.
 * @throws StartError when the keys of recent rotations fill the key set
 */
export async function rotateKeys(database: Database, encryption: KeyEncryption): Promise<void> {
  for (;;) {
    const age = await database.transaction((tx) => rotateUnlessYoung(tx, encryption));
    if (age >= publishedBefore) return;
    await sleep(publishedBefore - age);
  }
}

/** @returns the age of the next key in milliseconds. If it is below `publishedBefore`, nothing was changed. */
async function rotateUnlessYoung(tx: Transaction, encryption: KeyEncryption): Promise<number> {
  await lockSigningKeys(tx);
  await fillSigningKeys(tx, encryption);
  const [found] = await sql<{ age: number; published: number }>(
    tx,
    `SELECT count(*)::int AS published,
       floor(extract(epoch FROM clock_timestamp() - max(created_at) FILTER (WHERE state = 'next')) * 1000)::float8 AS age
     FROM signing_keys WHERE ${isPublished}`,
  );
  const { age, published } = found ?? { age: 0, published: 0 };
  if (published >= maximumPublished)
    throw new StartError('too many keys are still published; rotate again in 20 minutes');
  if (age < publishedBefore) return age;
  await sql(
    tx,
    `UPDATE signing_keys SET state = 'retiring', retired_at = clock_timestamp(), private_key = NULL
     WHERE state = 'current'`,
  );
  await promoteNext(tx, encryption);
  return age;
}

/**
 * Removes a key from the key set. Verifiers reject its tokens within 2 s, after they have read the set again. When the
 * key was the current one, the next key becomes the current one.
 * @throws StartError when the key does not exist
 */
export async function revokeKey(database: Database, encryption: KeyEncryption, kid: string): Promise<void> {
  await database.transaction(async (tx) => {
    await lockSigningKeys(tx);
    const [key] = await sql<{ state: ListedKey['state'] }>(tx, 'SELECT state FROM signing_keys WHERE kid = $1', [kid]);
    if (key === undefined) {
      const list = operatorCommand('shop', 'keys list');
      throw new StartError(`there is no signing key ${kid}: ${list} shows those that are there`);
    }
    if (key.state === 'revoked') return;
    await sql(
      tx,
      "UPDATE signing_keys SET state = 'revoked', revoked_at = clock_timestamp(), private_key = NULL WHERE kid = $1",
      [kid],
    );
    if (key.state === 'current') await promoteNext(tx, encryption);
    else await fillSigningKeys(tx, encryption);
  });
}

async function requireDecryptable({ pool }: Database, encryption: KeyEncryption): Promise<void> {
  const { rows } = await pool.query<{ kid: string; private_key: string }>(
    'SELECT kid, private_key FROM signing_keys WHERE private_key IS NOT NULL',
  );
  try {
    for (const { kid, private_key: encrypted } of rows) encryption.decrypt(encrypted, kid);
  } catch {
    throw new StartError('KEY_ENCRYPTION_SECRET does not open the signing keys in the database');
  }
}

async function promoteNext(tx: Transaction, encryption: KeyEncryption): Promise<void> {
  await sql(tx, "UPDATE signing_keys SET state = 'current', current_at = clock_timestamp() WHERE state = 'next'");
  await fillSigningKeys(tx, encryption);
}
