// Deletes expired rows in batches, each in its own transaction, so that a backlog of any size can be deleted.
import { type Log, startRepeating } from '../runtime/index.ts';
import type { Queryable } from './replica-lag.ts';

/** The expired rows of a table. Table and column are trusted SQL text from the source code. */
export interface Expiry {
  readonly table: string;
  /** The column of the time from which the period counts. It has an index. Rows without a value never expire. */
  readonly since: string;
  readonly hours: number;
}

/** A batch takes some tens of milliseconds, far below any statement time-out, so locks are short. */
const batchSize = 5_000;
const pruneEvery = 60_000;

/**
 * Deletes all expired rows, or stops when the signal is aborted. Several processes can prune concurrently, because each
 * skips the rows that another one has locked.
 * @returns the number of deleted rows
 */
export async function prune(pool: Queryable, { table, since, hours }: Expiry, signal?: AbortSignal): Promise<number> {
  // The rows are selected by ctid, so that the statement does not depend on the key. They are read in the order of the
  // index, because otherwise the planner would read all younger rows.
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
 * Prunes immediately, and then every minute. A failure is logged and affects neither the rows that were deleted before
 * nor the other tables. The returned function stops it after the batch in progress.
 */
export function startPruning(pool: Queryable, expiries: readonly Expiry[], log: Log): () => Promise<void> {
  const pruneAll = async (signal: AbortSignal): Promise<void> => {
    for (const expiry of expiries) {
      await prune(pool, expiry, signal).catch((error: unknown) =>
        log.warn({ err: error, table: expiry.table }, 'old rows stay for now'),
      );
    }
  };
  return startRepeating(pruneEvery, pruneAll, (error) => log.warn({ err: error }, 'old rows stay for now'));
}
