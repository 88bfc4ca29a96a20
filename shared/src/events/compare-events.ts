// Compares the events that a service has sent with those that a consumer has handled. After a failover that lost
// commits, they differ.
import type { Queryable } from '../database/index.ts';
import { type ServiceName, serviceNames } from '../runtime/index.ts';
import type { ConsumerName } from './consumers.ts';
import { type ShopEvent, type StoredEvent, toCloudEvent } from './event.ts';
import { type EventType, senders } from './generated.ts';
import { publishedEventsStay } from './retention.ts';
import type { Transport } from './transport.ts';
import { isEventType, validatePayload } from './validate-event.ts';

/** An event in an outbox. */
export type SentEvent = { [Type in EventType]: Pick<ShopEvent<Type>, 'id' | 'type' | 'subject' | 'data'> }[EventType];

/** An event in an inbox. Its type may be one that this version does not know. */
export type HandledEvent = Pick<ShopEvent, 'id' | 'subject'> & { readonly type: string };

/** The number of hours for which events can be compared: afterwards, the sender may have deleted them. */
export const comparableHours = publishedEventsStay;

const batchSize = 1_000;
const lowestId = '00000000-0000-0000-0000-000000000000';

/** Seconds after the publication of an event. Earlier, a consumer may have received it and not handled it yet. */
const inProgress = 15;

// The sender's own clock is compared with the times that it has written.
const published = `
  SELECT id, type, subject, data, published_at::text AS at FROM outbox
  WHERE published_at < now() - interval '${inProgress} seconds' AND (published_at, id) > ($1::timestamptz, $2::uuid)
  ORDER BY published_at, id LIMIT ${batchSize}`;

const handled = `
  SELECT event_id AS id, type, subject, taken_at::text AS at FROM inbox
  WHERE taken_at <= $3::timestamptz AND (taken_at, event_id) > ($1::timestamptz, $2::uuid)
  ORDER BY taken_at, event_id LIMIT ${batchSize}`;

/** Yields the events that the service of `from` has published since a time, in batches. */
export async function* publishedEvents(from: Queryable, since: string): AsyncGenerator<SentEvent[]> {
  for (let [at, id] = [since, lowestId]; ; ) {
    const { rows } = await from.query<HandledEvent & { data: unknown; at: string }>(published, [at, id]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.flatMap(toSentEvent);
    [at, id] = [last.at, last.id];
  }
}

/** Returns nothing for an event that another version of the shop has sent: it is unknown who handles it. */
function toSentEvent({ id, type, subject, data }: HandledEvent & { data: unknown }): SentEvent[] {
  if (!isEventType(type) || !validatePayload(type, data).valid) return [];
  return [{ id, type, subject, data } as SentEvent];
}

/** Yields the events that the consumers of the service of `from` have handled since a time, in batches. */
export async function* handledEvents(from: Queryable, since: string): AsyncGenerator<HandledEvent[]> {
  const { rows: clock } = await from.query<{ now: string }>('SELECT now()::text AS now');
  for (let [at, id] = [since, lowestId]; ; ) {
    const { rows } = await from.query<HandledEvent & { at: string }>(handled, [at, id, clock[0]?.now]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(({ id: eventId, type, subject }) => ({ id: eventId, type, subject }));
    [at, id] = [last.at, last.id];
  }
}

/** Returns those of the ids that are not in the inbox of the consumer. */
export async function findUnhandled(
  from: Queryable,
  consumer: ConsumerName,
  ids: readonly string[],
): Promise<Set<string>> {
  return missing(from, 'inbox WHERE event_id = given.id AND consumer = $2', [ids, consumer]);
}

/** Returns those of the ids that are not in the outbox of the service of `from`. */
export async function findUnknown(from: Queryable, ids: readonly string[]): Promise<Set<string>> {
  return missing(from, 'outbox WHERE outbox.id = given.id', [ids]);
}

async function missing(from: Queryable, row: string, values: readonly unknown[]): Promise<Set<string>> {
  const { rows } = await from.query<{ id: string }>(
    `SELECT id FROM unnest($1::uuid[]) AS given (id) WHERE NOT EXISTS (SELECT FROM ${row})`,
    [...values],
  );
  return new Set(rows.map(({ id }) => id));
}

const stored = `
  SELECT id, type, subject, sequence, request_id AS "requestId", traceparent, created_at AS "createdAt",
    data::text AS data
  FROM outbox WHERE id = $1`;

/**
 * Delivers an event of an outbox to one consumer again.
 * @returns false when the outbox no longer has the event
 * @throws as `Transport.deliverTo` does
 */
export async function deliverAgain(
  from: Queryable,
  sender: ServiceName,
  id: string,
  consumer: ConsumerName,
  transport: Pick<Transport, 'deliverTo'>,
): Promise<boolean> {
  const { rows } = await from.query<StoredEvent>(stored, [id]);
  const [event] = rows;
  if (event === undefined) return false;
  await transport.deliverTo(consumer, { id, type: event.type, content: toCloudEvent(`/${sender}`, event) });
  return true;
}

/** Returns the service that sends events of the type; undefined for a type that this version does not know. */
export function senderOf(type: string): ServiceName | undefined {
  return serviceNames.find((service) => senders[service].some((each) => each === type));
}
