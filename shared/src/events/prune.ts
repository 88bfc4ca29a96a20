// Deletes outbox and inbox rows that nobody needs any more, a bounded number at a time.
import type pg from 'pg';

export interface Retention {
  /** Published rows are kept this long, in hours: for the timeline of an order, and to publish again what a broker lost. */
  readonly publishedHours: number;
  /** Inbox rows are kept this long, in hours. A redelivery that comes later would count as new. */
  readonly takenHours: number;
}

const outbox = `
  DELETE FROM outbox WHERE id IN (
    SELECT id FROM outbox WHERE published_at < now() - $1 * interval '1 hour' LIMIT 5000 FOR UPDATE SKIP LOCKED)`;

const inbox = `
  DELETE FROM inbox WHERE (consumer, event_id) IN (
    SELECT consumer, event_id FROM inbox WHERE taken_at < now() - $1 * interval '1 hour' LIMIT 5000
    FOR UPDATE SKIP LOCKED)`;

/** Unpublished rows stay, however old. */
export async function pruneEvents(client: pg.Client, { publishedHours, takenHours }: Retention): Promise<void> {
  await client.query(outbox, [publishedHours]);
  await client.query(inbox, [takenHours]);
}
