// The e-mails with a token: a link when the operator has set its address, otherwise the request that uses the token.
import { createEmailTokenSeal, type EmailTokenSeal } from '@shop/shared/auth';
import type { EventPayloads } from '@shop/shared/events';

export type TokenKind = EventPayloads['email-token.issued.v1']['kind'];

/** The content of an e-mail with a token, which is stored encrypted. */
export interface TokenNotice {
  readonly accountId: string;
  /** The event that caused it. */
  readonly eventId: string;
  readonly email: string;
  readonly sealedToken: string;
  readonly expiresAt: string;
}

/** The addresses of the links, each with `{token}` in place of the token. */
export type LinkTemplates = { readonly [Kind in TokenKind]: string | undefined };

export interface TokenUse {
  readonly token: string;
  /** Undefined when the operator has set none. */
  readonly link: string | undefined;
}

export interface TokenOpener {
  /** @throws Error when the token was sealed with another secret */
  open(kind: TokenKind, notice: TokenNotice): TokenUse;
}

/** @param secret INTERNAL_SECRET, with which accounts encrypts the tokens */
export function createTokenOpener(secret: string, links: LinkTemplates): TokenOpener {
  const seal: EmailTokenSeal = createEmailTokenSeal(secret);
  return {
    open(kind, { accountId, email, sealedToken }) {
      const token = seal.open(sealedToken, { kind, accountId, email });
      return { token, link: links[kind]?.replaceAll('{token}', encodeURIComponent(token)) };
    },
  };
}

/** A part of an e-mail: a text, or a link that stands on a line of its own. */
export type TokenBlock = string | { readonly link: string };

export interface TokenContent {
  readonly subject: string;
  readonly blocks: readonly TokenBlock[];
}

const contents: Readonly<
  Record<
    TokenKind,
    {
      readonly subject: string;
      readonly why: string;
      readonly link: string;
      readonly path: string;
      readonly otherwise: string;
    }
  >
> = {
  'email-verification': {
    subject: 'Please confirm your e-mail address',
    why: 'This address was entered as the e-mail address of an account.',
    link: 'To confirm that it is yours, open this address:',
    path: '/v1/email-verifications',
    otherwise: 'If this was not you, ignore this e-mail.',
  },
  'email-change-undo': {
    subject: 'The e-mail address of your account is to be changed',
    why: 'Somebody who is logged in to your account has entered a new e-mail address for it. It takes effect when it is confirmed.',
    link: 'If this was not you, open this address. The account keeps your address, and every device is logged out:',
    path: '/v1/email-verifications/undo',
    otherwise: 'If this was you, ignore this e-mail.',
  },
  'password-reset': {
    subject: 'Set a new password',
    why: 'A new password for your account was asked for.',
    link: 'To set it, open this address:',
    path: '/v1/password-resets/confirm',
    otherwise: 'If this was not you, ignore this e-mail. Your password stays as it is.',
  },
};

const requests: Readonly<Record<TokenKind, string>> = {
  'email-verification': 'To confirm that it is yours, send this token',
  'email-change-undo':
    'If this was not you, undo it: the account keeps your address, and every device is logged out. Send this token',
  'password-reset': 'To set it, send this token and the new password',
};

/** @param until an RFC 3339 time to the minute */
export function tokenContent(kind: TokenKind, { token, link }: TokenUse, until: string): TokenContent {
  const { subject, why, link: invitation, path, otherwise } = contents[kind];
  const way: readonly TokenBlock[] =
    link === undefined ? [`${requests[kind]} to the shop with POST ${path}:`, token] : [invitation, { link }];
  return { subject, blocks: [why, ...way, `It works once, until ${until}. Show it to nobody.`, otherwise] };
}
