// Hashes and checks passwords with argon2id and the parameters that OWASP recommends. The number of concurrent hashes
// is bounded.
import { randomBytes } from 'node:crypto';
import { hash, type Options, verify } from '@node-rs/argon2';
import type { Semaphore, Waiter } from './semaphore.ts';

export interface Passwords {
  /** A hash that matches no password, for an account with a void password. */
  readonly unmatched: string;
  /**
   * Returns the hash to store, with its parameters and salt.
   * @throws Problem 503 when too many are waiting
   */
  hash(password: string, waiter: Waiter): Promise<string>;
  /**
   * Returns whether the password matches the hash. Without a hash, the password is checked against a hash that nothing
   * matches, so that the time does not reveal whether the account exists.
   * @throws Problem 503 when too many are waiting
   */
  matches(stored: string | undefined, password: string, waiter: Waiter): Promise<boolean>;
}

// OWASP Password Storage Cheat Sheet: argon2id, 19 MiB, 2 passes, 1 lane. The algorithm is written as the number 2,
// because the library's const enum cannot be imported.
const strength: Options = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export async function createPasswords(semaphore: Pick<Semaphore, 'run'>): Promise<Passwords> {
  const unmatched = await hash(randomBytes(32), strength);
  return {
    unmatched,
    hash: (password, waiter) => semaphore.run(waiter, () => hash(password, strength)),
    matches: (stored, password, waiter) => semaphore.run(waiter, () => verify(stored ?? unmatched, password)),
  };
}
