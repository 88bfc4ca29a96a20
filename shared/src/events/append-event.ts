// Writes events to the service's outbox, in the transaction of the change that they report.
import { sql, type Transaction } from '../database/index.ts';
import { newId } from '../runtime/index.ts';
import { SpanKind, startSpan, toTraceparent } from '../telemetry/index.ts';
import type { EventPayloads, EventType } from './generated.ts';
import { validatePayload } from './validate-event.ts';

export interface NewEvent<Type extends EventType> {
  readonly type: Type;
  /** The id of the aggregate that changed. */
  readonly subject: string;
  /** The aggregate's version after the change, from 1. Consumers compare it among events of one source and subject. */
  readonly sequence: number;
  readonly data: EventPayloads[Type];
  readonly requestId: string;
  readonly traceparent?: string | undefined;
}

/**
 * Appends the events. They are published only after the transaction has committed.
 * @returns the events' ids
 * @throws TypeError when the data does not conform to the schema of its type, which is a fault of the service
 */
export async function appendEvents(tx: Transaction, events: readonly NewEvent<EventType>[]): Promise<string[]> {
  const rows = events.map((event) => {
    const data = validatePayload(event.type, event.data);
    if (!data.valid) throw new TypeError(`invalid ${event.type}: ${data.errors}`);
    const id = newId();
    return { ...event, id, span: createSpan(id, event) };
  });
  await sql(
    tx,
    `INSERT INTO outbox (id, type, subject, sequence, request_id, traceparent, data)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::json[])`,
    [
      rows.map(({ id }) => id),
      rows.map(({ type }) => type),
      rows.map(({ subject }) => subject),
      rows.map(({ sequence }) => sequence),
      rows.map(({ requestId }) => requestId),
      rows.map(({ span, traceparent }) => (span === undefined ? (traceparent ?? null) : toTraceparent(span))),
      rows.map(({ data }) => JSON.stringify(data)),
    ],
  );
  for (const { span } of rows) span?.end();
  return rows.map(({ id }) => id);
}

/** Appends one event, as `appendEvents` does. */
export async function appendEvent<Type extends EventType>(tx: Transaction, event: NewEvent<Type>): Promise<string> {
  const [id] = await appendEvents(tx, [event]);
  if (id === undefined) throw new Error('an event has an id');
  return id;
}

/** Starts the span that is the parent of the event's further spans. */
function createSpan(id: string, { type, traceparent }: NewEvent<EventType>) {
  return startSpan(
    `create ${type}`,
    SpanKind.PRODUCER,
    { 'messaging.operation.type': 'create', 'messaging.message.id': id, 'shop.event.type': type },
    traceparent,
  );
}
