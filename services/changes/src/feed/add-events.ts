// Adds events to the feed, each subject in the order of its versions.
import { sql, type Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { instruments } from '@shop/shared/telemetry';
import { type FeedEventType, toChangedResource } from './changed-resource.ts';

/**
 * Adds the events to the feed. An event whose predecessor is missing waits for it. The transaction holds a lock until it
 * commits, so that a reader who sees a position sees all positions before it.
 */
export async function addEvents(tx: Transaction, events: readonly ShopEvent<FeedEventType>[]): Promise<void> {
  const rows = events.map((event) => ({ ...event, resource: toChangedResource(event.type, event.data) }));
  const column = <T>(of: (row: (typeof rows)[number]) => T): T[] => rows.map(of);
  await sql(
    tx,
    `INSERT INTO changes (event_id, source, type, subject, sequence, previous_sequence, happened_at, kind, resource_id,
       account_id, becomes_public, data)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::bigint[], $7::timestamptz[],
       $8::text[], $9::uuid[], $10::uuid[], $11::boolean[], $12::json[])
     ON CONFLICT DO NOTHING`,
    [
      column(({ id }) => id),
      column(({ source }) => source),
      column(({ type }) => type),
      column(({ subject }) => subject),
      column(({ sequence }) => sequence),
      column(({ previousSequence }) => previousSequence ?? null),
      column(({ time }) => time),
      column(({ resource }) => resource.kind),
      column(({ resource }) => resource.id),
      column(({ resource }) => resource.accountId ?? null),
      column(({ resource }) => resource.isPublic ?? null),
      column(({ resource }) => (resource.data === undefined ? null : JSON.stringify(resource.data))),
    ],
  );
  // The statements after this one see what the transactions before this one placed.
  await sql(tx, 'SELECT FROM feed FOR UPDATE');
  // A round places one event of each subject. The next event of the subject may have waited for it.
  for (let delays = await placeEvents(tx); delays.length > 0; delays = await placeEvents(tx)) {
    tx.afterCommit(() => {
      for (const delay of delays) instruments.feedDelay.record(delay);
    });
  }
}

/** The largest number of events that one statement places. */
const batchSize = 500;

/**
 * Gives positions to events whose predecessor has one. The predecessors of a subject that is older than the feed may never
 * arrive.
 * @returns the seconds since each of the changes happened
 */
async function placeEvents(tx: Transaction): Promise<readonly number[]> {
  const [placed] = await sql<{ delays: readonly number[] | null }>(
    tx,
    `WITH ready AS (
       SELECT DISTINCT ON (c.subject, c.source) c.event_id, c.subject, c.source, c.sequence, c.arrived_at,
         coalesce(c.becomes_public, s.is_public, false) AS is_public, coalesce(s.is_public, false) AS was_public
       FROM feed, changes c LEFT JOIN subjects s USING (subject, source)
       WHERE c.position IS NULL AND (c.previous_sequence IS NULL OR c.previous_sequence <= s.sequence
         OR s.sequence IS NULL AND uuid_extract_timestamp(c.subject) < feed.began_at)
       ORDER BY c.subject, c.source, c.sequence, c.event_id
       LIMIT $1),
     placed AS (
       UPDATE changes c SET position = feed.head + n, placed_at = now(), is_public = r.is_public OR r.was_public,
         data = CASE WHEN r.is_public THEN data END
       FROM feed, (SELECT *, row_number() OVER (ORDER BY arrived_at, event_id) AS n FROM ready) r
       WHERE c.event_id = r.event_id
       RETURNING extract(epoch FROM clock_timestamp() - c.happened_at)::float8 AS delay),
     known AS (
       INSERT INTO subjects AS s (subject, source, sequence, is_public)
       SELECT subject, source, sequence, is_public FROM ready
       ON CONFLICT (subject, source) DO UPDATE
       SET sequence = greatest(s.sequence, excluded.sequence), is_public = excluded.is_public)
     UPDATE feed SET head = head + (SELECT count(*) FROM placed)
     RETURNING (SELECT array_agg(greatest(delay, 0)) FROM placed) AS delays`,
    [batchSize],
  );
  return placed?.delays ?? [];
}
