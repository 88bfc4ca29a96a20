// Publishes events again that a broker lost after it had confirmed them.
import type { Database } from '../database/index.ts';
import { batchLock } from './relay/outbox.ts';
import { publishedEventsStay } from './retention.ts';

/**
 * The maximum number of events of each service that become unpublished again in a second, so that new events do not
 * wait behind days of old ones.
 */
const batch = 2_000;

const firstStep = "SELECT now::text, (now - $1 * interval '1 hour')::text AS past FROM clock_timestamp() AS now";

// Finds the end of a batch, counted over events of all types, so that a batch reads a bounded number of rows even when
// few have the given types.
const nextStep = `
  SELECT published_at::text AS past FROM outbox
  WHERE published_at > $1::timestamptz AND published_at <= $2::timestamptz
  ORDER BY published_at OFFSET $3 LIMIT 1`;

const unmark = `
  UPDATE outbox SET published_at = NULL, next_attempt_at = $4::timestamptz + $5 * interval '1 second'
  WHERE id IN (
    SELECT id FROM outbox
    WHERE published_at > $2::timestamptz AND published_at <= $3::timestamptz AND type = ANY ($1)
    ORDER BY id FOR UPDATE)`;

/**
 * Marks all stored published events of these types as unpublished, so that the relay publishes them again within
 * seconds or minutes. All of them are marked, because it is unknown since when the lost queue had contained unhandled
 * events. Consumers get some events twice.
 */
export async function republishEvents({ pool }: Database, types: readonly string[]): Promise<void> {
  // The lock waits for running relays. Otherwise events that were published but not yet marked would be skipped.
  await pool.query(`SELECT pg_advisory_xact_lock(${batchLock})`);
  // Events that are republished from now on get a later time, so they are not republished twice.
  const { rows } = await pool.query<{ now: string; past: string }>(firstStep, [publishedEventsStay]);
  const { now = '', past = '' } = rows[0] ?? {};
  for (let from = past, second = 0; from !== now; second += 1) {
    const step = await pool.query<{ past: string }>(nextStep, [from, now, batch - 1]);
    const to = step.rows[0]?.past ?? now;
    await pool.query(unmark, [types, from, to, now, second]);
    from = to;
  }
}
