// The statements on the outbox, and the meaning of its columns.
import type { Queryable } from '../../database/index.ts';

/** Every relay of a schema holds this lock in shared mode from its claim until its updates are committed. */
export const batchLock = "hashtextextended('outbox:' || current_schema(), 0)";

/**
 * The time from which the age of an unpublished row is measured. A row that no queue accepts is rescheduled without
 * changing its age.
 */
export const waitingSince = 'CASE WHEN problem IS NULL THEN next_attempt_at ELSE created_at END';

/** Seconds that an event may wait in the outbox. A longer wait means that the relay or the broker has a fault. */
export const longestLag = 30;

export interface Backlog {
  /** Events that are not published yet. */
  readonly waiting: number;
  /** Seconds for which the oldest of them has been due; 0 when there is none. */
  readonly lagSeconds: number;
}

/** Counts the unpublished events of the schema that `from` is connected to. */
export async function readBacklog(from: Queryable): Promise<Backlog> {
  const { rows } = await from.query<{ waiting: number; lag: number }>(
    `SELECT count(*)::int AS waiting,
       coalesce(extract(epoch FROM clock_timestamp() - min(${waitingSince})), 0)::float8 AS lag
     FROM outbox WHERE published_at IS NULL`,
  );
  return { waiting: rows[0]?.waiting ?? 0, lagSeconds: Math.max(0, Math.round(rows[0]?.lag ?? 0)) };
}

export const claim = `
  SELECT id, type, subject, sequence, previous_sequence AS "previousSequence", request_id AS "requestId", traceparent,
    created_at AS "createdAt", data::text AS data
  FROM outbox
  WHERE published_at IS NULL AND next_attempt_at <= now()
  ORDER BY next_attempt_at, id
  LIMIT $1
  FOR UPDATE SKIP LOCKED`;

export const markPublished =
  'UPDATE outbox SET published_at = clock_timestamp(), attempts = attempts + 1, problem = NULL ' +
  'WHERE id = ANY ($1::uuid[])';

export const reschedule = `
  UPDATE outbox
  SET attempts = attempts + 1,
      next_attempt_at = clock_timestamp() + least(power(2, least(attempts, 10)), 8) * interval '1 second',
      problem = 'no queue takes it'
  WHERE id = ANY ($1::uuid[])`;
