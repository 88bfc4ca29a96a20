// Authenticated encryption of short strings with secrets from the environment: AES-256-GCM.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Secrets } from '../runtime/index.ts';

export interface Encryption {
  /** @param label is authenticated with the string, so that decryption requires the same label */
  encrypt(text: string, label: string): string;
  /** @throws Error when it was encrypted with none of the secrets or another label, or was changed */
  decrypt(encrypted: string, label: string): string;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts strings with a key that is derived from the first secret (HKDF with SHA-256, RFC 5869). Decrypts strings
 * that were encrypted with any of the secrets.
 * @param secrets at least 32 characters each
 * @param purpose the use of the encrypted values; each purpose has a separate key
 */
export function createEncryption([first, ...others]: Secrets, purpose: string): Encryption {
  const keyOf = (secret: string): KeyObject =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
  const key = keyOf(first);
  const keys = [key, ...others.map(keyOf)];
  return {
    encrypt(text, label) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(label));
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64url');
    },
    decrypt(encrypted, label) {
      const bytes = Buffer.from(encrypted, 'base64url');
      let refusal: unknown;
      for (const one of keys) {
        try {
          return decryptWith(one, bytes, label);
        } catch (error) {
          refusal = error;
        }
      }
      throw refusal;
    },
  };
}

/** @throws Error when the bytes were not encrypted with this key and label */
function decryptWith(key: KeyObject, bytes: Buffer, label: string): string {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(label))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
}
