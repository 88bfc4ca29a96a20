// Encrypts the tokens of e-mails on their way from accounts to the process that sends the e-mails, so that outbox,
// broker, dead letters and databases hold none in plain text.
import { createEncryption } from './encryption.ts';

/** The e-mail that a token belongs to. A sealed token cannot be opened for another e-mail. */
export interface TokenEmail {
  readonly kind: string;
  readonly accountId: string;
  readonly email: string;
}

export interface EmailTokenSeal {
  seal(token: string, about: TokenEmail): string;
  /** @throws Error when another secret sealed it, or it belongs to another e-mail */
  open(sealed: string, about: TokenEmail): string;
}

/** @param secret INTERNAL_SECRET, which accounts and notifications share */
export function createEmailTokenSeal(secret: string): EmailTokenSeal {
  const encryption = createEncryption(secret, 'shop e-mail tokens');
  return {
    seal: (token, about) => encryption.encrypt(token, labelOf(about)),
    open: (sealed, about) => encryption.decrypt(sealed, labelOf(about)),
  };
}

function labelOf({ kind, accountId, email }: TokenEmail): string {
  return `${kind} ${accountId} ${email}`;
}
