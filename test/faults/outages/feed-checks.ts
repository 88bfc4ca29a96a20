// Compares the feed of changes with the events that the services published.
import { serviceNames } from '@shop/shared/shop';
import type pg from 'pg';
import { consumers } from '../../../shared/src/events/consumers.ts';

/** The violations that are listed of each kind. */
const listed = 5;

const published = serviceNames
  .map((service) => `SELECT id, type FROM ${service}.outbox WHERE type = ANY ($1)`)
  .join(' UNION ALL ');

/** An event of version 1.1 names no event before it, so that it may stand before it. */
const checks: Readonly<Record<string, string>> = {
  'is not in the feed': `
    SELECT concat_ws(' ', type, id) AS what FROM (${published}) AS sent
    WHERE NOT EXISTS (SELECT FROM changes.changes c WHERE c.event_id = sent.id AND c.position IS NOT NULL)`,
  'waits for the event before it': `
    SELECT concat_ws(' ', type, event_id) AS what FROM changes.changes WHERE position IS NULL AND type = ANY ($1)`,
  'stands in the feed after a later change of its subject': `
    SELECT concat_ws(' ', type, event_id) AS what FROM (
      SELECT type, event_id, sequence,
        lag(sequence) OVER (PARTITION BY source, subject ORDER BY position) AS before,
        lag(previous_sequence) OVER (PARTITION BY source, subject ORDER BY position) AS known
      FROM changes.changes WHERE type = ANY ($1)) AS placed WHERE sequence < before AND known IS NOT NULL`,
  'is not dense': `
    SELECT format('the feed of %s changes to %s', count(*), max(position)) AS what FROM changes.changes
    WHERE position IS NOT NULL AND cardinality($1::text[]) > 0
    HAVING count(*) <> max(position) - min(position) + 1 OR max(position) <> (SELECT head FROM changes.feed)`,
};

/** All violations, one on each line. */
export async function feedViolations(admin: pg.Pool): Promise<string[]> {
  const found: string[] = [];
  for (const [fault, statement] of Object.entries(checks)) {
    const { rows } = await admin.query<{ what: string }>(`${statement} LIMIT ${listed}`, [consumers['changes.feed']]);
    found.push(...rows.map(({ what }) => `${what} ${fault}`));
  }
  return found;
}
