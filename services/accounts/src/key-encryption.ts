// Encrypts private keys at rest with a secret from the environment, so that nobody can sign with a copy of the
// database.
import { createEncryption, type Encryption } from '@shop/shared/auth';

export type KeyEncryption = Encryption;

/** @param secret KEY_ENCRYPTION_SECRET, at least 32 characters */
export function createKeyEncryption(secret: string): KeyEncryption {
  return createEncryption(secret, 'shop accounts signing keys');
}
