// The context that main.ts gives to the operations of accounts.
import type { EmailTokenSeal } from '@shop/shared/auth';
import type { IdempotencyContext, InternalClient, TypedOperation } from '@shop/shared/http';
import type { operations } from './generated.ts';
import type { TokenIssuer } from './session/access-token.ts';
import type { Passwords } from './session/password-hash.ts';
import type { RefreshLifetimes } from './session/refresh-token.ts';
import type { SigningKeys } from './session/signing-key.ts';
import type { SupportCollections } from './support/support-collections.ts';

export interface Context extends IdempotencyContext {
  readonly passwords: Passwords;
  readonly signingKeys: SigningKeys;
  readonly tokenIssuer: TokenIssuer;
  readonly refreshLifetimes: RefreshLifetimes;
  readonly emailTokenSeal: EmailTokenSeal;
  readonly support: SupportCollections;
}

/** The context of an operation that calls other services. */
export interface CallingContext extends Context {
  readonly orders: InternalClient;
  readonly notifications: InternalClient;
  readonly changes: InternalClient;
}

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations, Needed = Context> = TypedOperation<operations[Id], Needed>;
