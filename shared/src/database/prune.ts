// Deletes expired rows in batches, each in its own transaction, so that a backlog of any size can be deleted.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../runtime/index.ts';
import type { Queryable } from './replica-lag.ts';

/** The rows of a table that have expired. Table and column are trusted text from the source code. */
export interface Expiry {
  readonly table: string;
  /** Column of the time from which on it counts; there is an index on it. Rows that have none stay. */
  readonly since: string;
  readonly hours: number;
}

/** Takes some tens of milliseconds: far below any statement time-out, and locks are short. */
const batchSize = 5_000;
const pruneEvery = 60_000;

/**
 * Deletes what has expired until none is left, or until the signal. Several may prune at once: what another one has locked is
 * left to it.
 * @returns how many rows were deleted
 */
export async function prune(pool: Queryable, { table, since, hours }: Expiry, signal?: AbortSignal): Promise<number> {
  // By place, so that it is one form whatever the key; in the index's order, or the planner reads past all that is young.
  const batch = `
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE ${since} < now() - $1 * interval '1 hour'
      ORDER BY ${since} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`;
  let deleted = 0;
  while (signal?.aborted !== true) {
    const { rowCount } = await pool.query(batch, [hours]);
    if (!rowCount) break;
    deleted += rowCount;
  }
  return deleted;
}

/**
 * Prunes at once, and then every minute. A failure is logged, keeps what was deleted before, and keeps nothing else from being
 * pruned. The returned function stops it after the batch in work.
 */
export function startPruning(pool: Queryable, expiries: readonly Expiry[], log: Log): () => Promise<void> {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      for (const expiry of expiries) {
        await prune(pool, expiry, stop.signal).catch((error: unknown) =>
          log.warn({ err: error, table: expiry.table }, 'old rows stay for now'),
        );
      }
      await sleep(pruneEvery, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}
