// Ended sessions. Verifiers poll their list, so the access tokens of an ended session are rejected within two seconds.
import { type Database, sql, type Transaction, timelineSql } from '@shop/shared/database';
import { longestTokenSeconds } from './access-token-lifetime.ts';

/**
 * The maximum number of listed sessions; the oldest are left out. Verifiers store the same number, so that their memory
 * is bounded.
 */
const maximum = 100_000;

/**
 * Revokes the sessions that meet a condition on `refresh_families`. The same transaction lists a session when one of
 * its access tokens can still be valid. A renewal that has locked the family finishes first; its tokens have the same
 * session.
 * @param condition trusted SQL text from the source code
 * @returns the number of revoked sessions
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
const transactionBits = 48;
const timelineBits = 14;

/**
 * Returns the sessions, oldest first, that ended in the transaction `since` or later. Returns all sessions when that
 * transaction is in the future or has another timeline. After a restore or a failover, other transactions get the same
 * numbers. Every transaction before `next` has finished when the rows are read, so a row that is committed later is in
 * the next response.
 */
export async function readEndedSessions({ pool }: Database, since: string): Promise<EndedSessions> {
  const { timeline, oldest, newest } = await readPlace(pool);
  const place = BigInt(since);
  const transaction = BigInt.asUintN(transactionBits, place);
  const isHere = place >> BigInt(transactionBits) === timeline && transaction <= newest;
  const { rows } = await pool.query<Pick<EndedSessions, 'sessionIds'>>(
    `SELECT ARRAY(
       SELECT session_id::text FROM (
         SELECT session_id, ended_at FROM ended_sessions
         WHERE xid >= $1::xid8 AND ended_at > now() - ${longestTokenSeconds} * interval '1 second'
         ORDER BY ended_at DESC LIMIT ${maximum}
       ) AS latest ORDER BY ended_at) AS "sessionIds"`,
    [String(isHere ? transaction : 0)],
  );
  return { sessionIds: rows[0]?.sessionIds ?? [], next: String((timeline << BigInt(transactionBits)) + oldest) };
}

interface Place {
  /** It grows at each failover. 0 while the server is read-only. */
  readonly timeline: bigint;
  /** The oldest transaction in progress. */
  readonly oldest: bigint;
  /** The first transaction that has not begun. */
  readonly newest: bigint;
}

async function readPlace(pool: Database['pool']): Promise<Place> {
  const { rows } = await pool.query<{ timeline: string | null; oldest: string; newest: string }>(
    `SELECT ${timelineSql} AS timeline, pg_snapshot_xmin(now)::text AS oldest, pg_snapshot_xmax(now)::text AS newest
     FROM pg_current_snapshot() AS now`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a snapshot has one row');
  const timeline = BigInt.asUintN(timelineBits, BigInt(`0x${row.timeline ?? '0'}`));
  return { timeline, oldest: BigInt(row.oldest), newest: BigInt(row.newest) };
}
