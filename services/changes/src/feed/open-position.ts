// The position from which a request reads the feed.
import type { ChangeReader } from './change-reader.ts';
import type { FeedCursors, FeedPosition } from './feed-cursors.ts';

/** Returns the position of a cursor; that of the newest change for `now`, and undefined for the beginning of the feed. */
export async function openPosition(
  cursors: FeedCursors,
  reader: Pick<ChangeReader, 'now'>,
  cursor: string | undefined,
  where: { readonly parameter: string } | { readonly header: string },
): Promise<FeedPosition | undefined> {
  if (cursor === undefined) return undefined;
  return cursor === 'now' ? await reader.now() : cursors.open(cursor, where);
}
