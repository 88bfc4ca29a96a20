// Encrypts private keys at rest with a secret from the environment, so that a copy of the database is not enough to
// sign tokens.
import { createEncryption, type Encryption } from '@shop/shared/auth';

export type KeyEncryption = Encryption;

/** @param secret KEY_ENCRYPTION_SECRET, at least 32 characters */
export function createKeyEncryption(secret: string): KeyEncryption {
  return createEncryption(secret, 'shop accounts signing keys');
}
