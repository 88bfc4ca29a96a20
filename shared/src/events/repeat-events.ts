// Publishes events again that a broker lost after it had confirmed them.
import type { Database } from '../database/index.ts';

/** How far back, in hours. Published rows are kept longer than this. */
const window = 1;
const batch = 5_000;

const unmark = `
  UPDATE outbox SET published_at = NULL, next_attempt_at = clock_timestamp()
  WHERE id IN (
    SELECT id FROM outbox
    WHERE published_at > $2::timestamptz - $3 * interval '1 hour' AND published_at <= $2::timestamptz AND type = ANY ($1)
    LIMIT $4
    FOR UPDATE SKIP LOCKED)`;

/** Makes what was published of these types within the last hour unpublished again, for the relay to take. Consumers get it twice. */
export async function repeatEvents({ pool }: Database, types: readonly string[]): Promise<void> {
  // What is published again from now on lies past this moment and is not touched a second time.
  const { rows } = await pool.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
  for (;;) {
    const { rowCount } = await pool.query(unmark, [types, rows[0]?.now, window, batch]);
    if ((rowCount ?? 0) < batch) return;
  }
}
