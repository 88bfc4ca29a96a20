// The tokens in e-mails, and the links that the operator has configured for them.
import { createEmailTokenSeal, type EmailTokenSeal } from '@shop/shared/auth';
import type { EventPayloads } from '@shop/shared/events';
import type { Secrets } from '@shop/shared/runtime';

export type TokenKind = EventPayloads['email-token.issued.v1']['kind'];

/** The content of an e-mail with a token, which is stored encrypted. */
export interface TokenNotice {
  readonly accountId: string;
  /** The event that caused it. */
  readonly eventId: string;
  readonly email: string;
  /** The name of the account owner; absent when the address may belong to another person. */
  readonly name?: string;
  readonly locale?: string;
  readonly addressState?: EventPayloads['email-token.issued.v1']['addressState'];
  /** The network of the client that caused the e-mail. */
  readonly clientNetwork?: string;
  readonly sealedToken: string;
  readonly expiresAt: string;
}

export interface TokenOccasion {
  readonly kind: TokenKind;
  readonly details: TokenNotice;
}

/** The URLs of the links, each with the placeholder `{token}`. */
export type LinkTemplates = { readonly [Kind in TokenKind]: string | undefined };

export interface TokenUse {
  readonly token: string;
  /** The link; undefined when the operator has configured none. */
  readonly link: string | undefined;
}

export interface TokenOpener {
  /** @throws Error when the token was encrypted with another secret */
  open(kind: TokenKind, notice: TokenNotice): TokenUse;
}

/** @param secrets INTERNAL_SECRET, with which accounts encrypts the tokens */
export function createTokenOpener(secrets: Secrets, links: LinkTemplates): TokenOpener {
  const seal: EmailTokenSeal = createEmailTokenSeal(secrets);
  return {
    open(kind, { accountId, email, sealedToken }) {
      const token = seal.open(sealedToken, { kind, accountId, email });
      return { token, link: links[kind]?.replaceAll('{token}', encodeURIComponent(token)) };
    },
  };
}
