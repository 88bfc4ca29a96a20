// What the operations of accounts work with; put together in main.ts.
import type { IdempotencyContext } from '@shop/shared/http';
import type { TokenIssuer } from './access-token.ts';
import type { Passwords } from './password.ts';
import type { RefreshLifetimes } from './refresh-token.ts';
import type { SigningKeys } from './signing-key.ts';

export interface Context extends IdempotencyContext {
  readonly passwords: Passwords;
  readonly signingKeys: SigningKeys;
  readonly tokenIssuer: TokenIssuer;
  readonly refreshLifetimes: RefreshLifetimes;
}
