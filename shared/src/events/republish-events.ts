// Publishes events again that a broker lost after it had confirmed them.
import type { Database } from '../database/index.ts';
import { batchLock } from './relay/outbox.ts';
import { publishedEventsStay } from './retention.ts';

/**
 * What happens now shall not wait behind days of events that are published again: of each service so many, once a
 * second.
 */
const batch = 2_000;

const firstStep = "SELECT now::text, (now - $1 * interval '1 hour')::text AS past FROM clock_timestamp() AS now";

// The end of a batch, counted over all types: a batch reads no more than its rows, however few are of the types.
const nextStep = `
  SELECT published_at::text AS past FROM outbox
  WHERE published_at > $1::timestamptz AND published_at <= $2::timestamptz
  ORDER BY published_at OFFSET $3 LIMIT 1`;

const unmark = `
  UPDATE outbox SET published_at = NULL, next_attempt_at = $4::timestamptz + $5 * interval '1 second'
  WHERE id IN (
    SELECT id FROM outbox
    WHERE published_at > $2::timestamptz AND published_at <= $3::timestamptz AND type = ANY ($1)
    FOR UPDATE SKIP LOCKED)`;

/**
 * Makes all kept published events of these types unpublished again, so that the relay publishes them within seconds or
 * minutes. All of them, because it is unknown since when a lost queue had contained unhandled events. Consumers get
 * some events twice.
 */
export async function republishEvents({ pool }: Database, types: readonly string[]): Promise<void> {
  // Otherwise events that were published but not yet marked by the relay would be skipped.
  await pool.query(`SELECT pg_advisory_xact_lock(${batchLock})`);
  // Events that are republished from now on have a later time, so they are not republished twice.
  const { rows } = await pool.query<{ now: string; past: string }>(firstStep, [publishedEventsStay]);
  const { now = '', past = '' } = rows[0] ?? {};
  for (let from = past, second = 0; from !== now; second += 1) {
    const step = await pool.query<{ past: string }>(nextStep, [from, now, batch - 1]);
    const to = step.rows[0]?.past ?? now;
    await pool.query(unmark, [types, from, to, now, second]);
    from = to;
  }
}
