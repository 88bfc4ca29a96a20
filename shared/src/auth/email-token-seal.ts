// Encrypts the tokens of e-mails between accounts and the process that sends the e-mails, so that outbox, broker, dead
// letters and databases contain no token in plain text.
import type { Secrets } from '../runtime/index.ts';
import { createEncryption } from './encryption.ts';

/** The e-mail that a token belongs to. A token cannot be decrypted for another e-mail. */
export interface TokenEmail {
  readonly kind: string;
  readonly accountId: string;
  readonly email: string;
}

export interface EmailTokenSeal {
  seal(token: string, about: TokenEmail): string;
  /** @throws Error when the token was encrypted with another secret or for another e-mail */
  open(sealed: string, about: TokenEmail): string;
}

/** @param secrets INTERNAL_SECRET, which accounts and notifications share */
export function createEmailTokenSeal(secrets: Secrets): EmailTokenSeal {
  const encryption = createEncryption(secrets, 'shop e-mail tokens');
  return {
    seal: (token, about) => encryption.encrypt(token, labelOf(about)),
    open: (sealed, about) => encryption.decrypt(sealed, labelOf(about)),
  };
}

function labelOf({ kind, accountId, email }: TokenEmail): string {
  return `${kind} ${accountId} ${email}`;
}
