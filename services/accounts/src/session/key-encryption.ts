// Encrypts private keys at rest with secrets from the environment, so that a copy of the database is not enough to
// sign tokens.
import { createEncryption, type Encryption } from '@shop/shared/auth';
import type { Secrets } from '@shop/shared/runtime';

export type KeyEncryption = Encryption;

/** @param secrets KEY_ENCRYPTION_SECRET */
export function createKeyEncryption(secrets: Secrets): KeyEncryption {
  return createEncryption(secrets, 'shop accounts signing keys');
}
