// Publishes events again that a broker lost after it had confirmed them.
import type { Queryable } from '../database/index.ts';
import { batchLock } from './relay/outbox.ts';

/**
 * The maximum number of events of each service that become unpublished again in a second, so that new events do not
 * wait for days of old ones.
 */
const batch = 2_000;

// Finds the end of a batch. It is counted over events of all types, so that a batch reads a bounded number of rows even
// when few have the given types.
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
 * Marks the events of these types that were published since a time as unpublished, so that the relay publishes them
 * again within seconds or minutes. Consumers get some events twice, and ignore those that they have handled.
 * @returns the number of events
 */
export async function republishEvents(from: Queryable, types: readonly string[], since: string): Promise<number> {
  // The lock waits for running relays. Otherwise events that were published but not yet marked would be skipped.
  await from.query(`SELECT pg_advisory_xact_lock(${batchLock})`);
  // Events that are republished from now on get a later time, so they are not republished twice.
  const { rows } = await from.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
  const { now = '' } = rows[0] ?? {};
  let count = 0;
  for (let past = since, second = 0; past !== now; second += 1) {
    const step = await from.query<{ past: string }>(nextStep, [past, now, batch - 1]);
    const to = step.rows[0]?.past ?? now;
    count += (await from.query(unmark, [types, past, to, now, second])).rowCount ?? 0;
    past = to;
  }
  return count;
}
