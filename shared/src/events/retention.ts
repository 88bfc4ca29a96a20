// How long what was published and taken is kept.
import type { Expiry } from '../database/index.ts';

/** In hours. */
export const publishedEventsStay = 72;

/**
 * Published events stay three days, for the timeline of an order and to publish again what a broker lost; unpublished ones stay
 * however old. What was taken stays thirty days: a redelivery that comes later would count as new.
 */
export const expiredEvents: readonly Expiry[] = [
  { table: 'outbox', since: 'published_at', hours: publishedEventsStay },
  { table: 'inbox', since: 'taken_at', hours: 720 },
];
