// Moves the cursor of a webhook back, so that the changes after it are sent again.
import { sql, type Transaction } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { keptDays } from '../feed/change.ts';
import { epoch } from '../feed/change-reader.ts';
import type { Webhook } from './webhook.ts';

interface Found {
  readonly epoch: string;
  readonly position: number;
  /** Whether the feed still has all changes since the time. */
  readonly isComplete: boolean;
}

/**
 * Returns the cursor with which all changes since a time are sent again. A cursor that is further back stays. Failed changes
 * after the new cursor are no longer parked, because the cursor reaches them again.
 * @throws Problem 410 `cursor-expired` when changes since the time are no longer kept
 */
export async function replaySince(tx: Transaction, webhook: Webhook, from: Date): Promise<Partial<Webhook>> {
  const [found] = await sql<Found>(
    tx,
    `SELECT ${epoch}, coalesce((SELECT min(position) FROM changes WHERE placed_at >= $1), head + 1) - 1 AS position,
       $1 >= now() - make_interval(days => $2) OR coalesce((SELECT min(position) FROM changes), head + 1) = 1 AS "isComplete"
     FROM feed`,
    [from, keptDays],
  );
  if (found?.isComplete !== true) {
    const detail =
      'Changes are kept for 7 days, and not all changes since this time are kept. Replay from a later time.';
    throw new Problem('cursor-expired', detail, { errors: [{ pointer: '/from', detail: 'is too long ago' }] });
  }
  const isSameEpoch = webhook.epoch === found.epoch;
  const position = isSameEpoch ? Math.min(webhook.position, found.position) : found.position;
  await sql(tx, 'DELETE FROM parked_subjects WHERE webhook_id = $1 AND position > $2', [webhook.id, position]);
  return {
    epoch: found.epoch,
    position,
    firstPosition: Math.min(webhook.firstPosition, position),
    nextAttemptAt: new Date(),
  };
}
