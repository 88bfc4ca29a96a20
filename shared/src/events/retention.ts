// The retention of published and handled events.
import type { Expiry } from '../database/index.ts';

/** The number of hours for which a published event is stored. */
export const publishedEventsStay = 72;

/**
 * Published events are stored for three days, for the history of an order and to republish events that a broker lost.
 * Unpublished events are never deleted. Handled events are stored for thirty days, because a later redelivery would
 * count as new.
 */
export const expiredEvents: readonly Expiry[] = [
  { table: 'outbox', since: 'published_at', hours: publishedEventsStay },
  { table: 'inbox', since: 'taken_at', hours: 720 },
];
