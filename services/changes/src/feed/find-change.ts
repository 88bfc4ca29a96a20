// One change of the feed by the id of its event.
import type { Queryable } from '@shop/shared/database';
import { type Change, changeColumns } from './change.ts';

/** Undefined for an event that is not in the feed, or no longer, or that waits for its predecessor. */
export async function findChange(database: Queryable, eventId: string): Promise<Change | undefined> {
  const { rows } = await database.query<Change>(
    `SELECT ${changeColumns} FROM changes WHERE event_id = $1 AND position IS NOT NULL`,
    [eventId],
  );
  return rows[0];
}
