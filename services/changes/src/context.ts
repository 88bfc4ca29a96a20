// The context that main.ts gives to the operations of changes.
import type { TypedOperation } from '@shop/shared/http';
import type { ChangeReader } from './feed/change-reader.ts';
import type { FeedCursors } from './feed/feed-cursors.ts';
import type { LiveStreams } from './feed/live-streams.ts';
import type { operations } from './generated.ts';

export interface Context {
  readonly reader: ChangeReader;
  readonly cursors: FeedCursors;
  readonly streams: LiveStreams;
}

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations> = TypedOperation<operations[Id], Context>;
