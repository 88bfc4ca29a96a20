// The context that main.ts gives to the operations of changes.
import type { Encryption } from '@shop/shared/auth';
import type { IdempotencyContext, TypedOperation } from '@shop/shared/http';
import type { ChangeReader } from './feed/change-reader.ts';
import type { FeedCursors } from './feed/feed-cursors.ts';
import type { LiveStreams } from './feed/live-streams.ts';
import type { operations } from './generated.ts';
import type { toKeySet } from './webhooks/signing-keys.ts';
import type { UrlRules } from './webhooks/webhook-url.ts';

export interface Context extends IdempotencyContext {
  readonly reader: ChangeReader;
  readonly cursors: FeedCursors;
  readonly streams: LiveStreams;
  /** Encrypts the secrets of webhooks. */
  readonly webhookEncryption: Encryption;
  /** The public keys of the signatures of webhooks. */
  readonly webhookKeys: ReturnType<typeof toKeySet>;
  readonly urlRules: UrlRules;
}

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations> = TypedOperation<operations[Id], Context>;
