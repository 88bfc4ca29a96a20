// Sessions that have ended. Verifiers poll their list, so the access tokens of an ended session are refused within two
// seconds.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { longestTokenSeconds } from './access-token-lifetime.ts';

/**
 * The maximum number of listed sessions; the oldest of more are not listed. Verifiers keep the same number, so that
 * their memory is bounded.
 */
const maximum = 100_000;

/**
 * Ends the sessions that meet a condition on `refresh_families`. The transaction that ends a session also lists it,
 * when an access token of the session can still be valid. A renewal that holds the lock of the family ends first; its
 * tokens have the same session.
 * @param condition trusted text from the source code
 * @returns how many sessions ended
 */
export async function endSessions(
  tx: Transaction,
  condition: string,
  values: readonly (string | null)[],
): Promise<number> {
  const ended = await sql(
    tx,
    `WITH ended AS (
       DELETE FROM refresh_families WHERE ${condition} RETURNING id, coalesce(last_used_at, created_at) AS used_at
     ), listed AS (
       INSERT INTO ended_sessions (session_id)
       SELECT id FROM ended WHERE used_at > now() - ${longestTokenSeconds} * interval '1 second'
     )
     SELECT FROM ended`,
    values,
  );
  return ended.length;
}

export interface EndedSessions {
  readonly sessionIds: readonly string[];
  /** The value of `since` for the next request. */
  readonly next: string;
}

/** `since` contains the number of a transaction in its lower bits, and the timeline of the server above them. */
const transactionBits = 48n;
const timelineBits = 14n;

// The timeline of a server grows at each failover. In a server that is read-only after one, it is unknown.
const timeline = `CASE WHEN pg_is_in_recovery() THEN 0
  ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint & ${(1n << timelineBits) - 1n} END`;

/**
 * Returns the sessions, oldest first, that ended in the transaction of `since` or later. All are returned when that
 * transaction is in the future, or has another timeline: after a restore of the database or a failover, other
 * transactions get the same numbers. Rows and `next` are from one snapshot, in which every transaction before `next`
 * has ended. A row that is committed later is therefore in the next answer.
 */
export async function readEndedSessions({ pool }: Database, since: string): Promise<EndedSessions> {
  const place = BigInt(since);
  const { rows } = await pool.query<{ sessionIds: string[]; transaction: string; timeline: string }>(
    `WITH here AS (SELECT ${timeline} AS timeline)
     SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS transaction, timeline::text, ARRAY(
       SELECT session_id::text FROM (
         SELECT session_id, ended_at FROM ended_sessions
         WHERE xid >= (
             SELECT CASE WHEN timeline = $1 AND $2::xid8 <= pg_snapshot_xmax(pg_current_snapshot())
               THEN $2::xid8 ELSE '0'::xid8 END FROM here)
           AND ended_at > now() - ${longestTokenSeconds} * interval '1 second'
         ORDER BY ended_at DESC LIMIT ${maximum}
       ) AS latest ORDER BY ended_at) AS "sessionIds"
     FROM here`,
    [String(place >> transactionBits), String(BigInt.asUintN(Number(transactionBits), place))],
  );
  const [read] = rows;
  if (read === undefined) throw new Error('a snapshot has one row');
  const next = (BigInt(read.timeline) << transactionBits) + BigInt(read.transaction);
  return { sessionIds: read.sessionIds, next: String(next) };
}
