// Cursors of the feed: a position, and the epoch in which it is valid.
import { type Cursors, createCursors } from '@shop/shared/collection';
import { Problem } from '@shop/shared/problem';

export interface FeedPosition {
  readonly epoch: string;
  readonly position: number;
}

export interface FeedCursors {
  seal(at: FeedPosition): string;
  /** @throws Problem 400 `invalid-cursor` for a text that the shop did not make */
  open(cursor: string, where: { readonly parameter: string } | { readonly header: string }): FeedPosition;
}

const binding = 'changes';

export function openFeedCursors(keys: readonly Buffer[]): FeedCursors {
  const cursors: Cursors = createCursors(keys);
  return {
    seal: ({ epoch, position }) => cursors.seal([epoch, String(position)], binding),
    open(cursor, where) {
      const [epoch, position] = cursors.open(cursor, binding, where);
      return { epoch: String(epoch), position: Number(position) };
    },
  };
}

/** 410: the changes after the cursor are no longer kept. */
export function cursorExpired(): Problem {
  return new Problem(
    'cursor-expired',
    [
      'The changes after this cursor are no longer kept.',
      'Read cursor=now, then the lists, then the changes after that cursor.',
    ].join(' '),
  );
}
