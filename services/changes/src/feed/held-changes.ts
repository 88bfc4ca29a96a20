// The changes that wait for the event before them of the same subject.
import type { Database } from '@shop/shared/database';
import { observe, sharedRead } from '@shop/shared/telemetry';

/** Seconds for which events may overtake each other. After them, an event before a held one is missing. */
export const longestHeld = 60;

export interface HeldChanges {
  readonly count: number;
  /** Seconds since the oldest of them arrived; 0 when there is none. */
  readonly age: number;
}

const held = `
  SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(arrived_at)), 0)::float8 AS age
  FROM changes WHERE position IS NULL`;

/** Observes how many changes are held back, and since when the oldest is. */
export function observeHeldChanges({ pool }: Database): void {
  const read = sharedRead(async () => (await pool.query<HeldChanges>(held)).rows[0]);
  const count = { unit: '{change}', description: 'Changes that wait for the event before them.' };
  observe('shop.changes.held', count, async (tell) => tell((await read())?.count ?? 0));
  const age = { unit: 's', description: 'Time since the oldest change that waits for the event before it arrived.' };
  observe('shop.changes.held_age', age, async (tell) => tell((await read())?.age ?? 0));
}

/** A change whose predecessor is missing. */
export interface HeldChange {
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  /** The sequence of the missing event. */
  readonly missing: number;
  readonly seconds: number;
}

/** Returns the first held change of each subject, the oldest first, that has waited for longer than the events may overtake. */
export async function listHeldChanges({ pool }: Database, limit: number): Promise<HeldChange[]> {
  const { rows } = await pool.query<HeldChange>(
    `SELECT type, source, subject, missing, seconds FROM (
       SELECT DISTINCT ON (subject, source) type, source, subject, previous_sequence AS missing,
         extract(epoch FROM now() - arrived_at)::int AS seconds
       FROM changes WHERE position IS NULL ORDER BY subject, source, sequence) AS first
     WHERE seconds >= $1 ORDER BY seconds DESC, subject LIMIT $2`,
    [longestHeld, limit],
  );
  return rows;
}
