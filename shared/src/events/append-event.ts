// Writes an event into the service's outbox, in the transaction of the change that it tells of.
import type { Transaction } from 'sequelize';
import { sql } from '../database/index.ts';
import { newId } from '../runtime/index.ts';
import { SpanKind, startSpan, traceparentOf } from '../telemetry/index.ts';
import type { EventPayloads, EventType } from './definitions.ts';
import { payloadMistakes } from './event.ts';

export interface NewEvent<Type extends EventType> {
  readonly type: Type;
  /** The id of the aggregate that changed. */
  readonly subject: string;
  /** The aggregate's version after the change, from 1. */
  readonly sequence: number;
  readonly data: EventPayloads[Type];
  readonly requestId: string;
  readonly traceparent?: string | undefined;
}

/**
 * Appends the event; it is published after, and only after, the transaction commits.
 * @returns the event's id
 * @throws TypeError when the data is not what the event type says: a mistake of ours that must not get out
 */
export async function appendEvent<Type extends EventType>(tx: Transaction, event: NewEvent<Type>): Promise<string> {
  const mistakes = payloadMistakes(event.type, event.data);
  if (mistakes !== undefined) throw new TypeError(`invalid ${event.type}: ${mistakes}`);
  const id = newId();
  // What becomes of the event hangs below this span.
  const span = startSpan(
    `create ${event.type}`,
    SpanKind.PRODUCER,
    { 'messaging.operation.type': 'create', 'messaging.message.id': id, 'shop.event.type': event.type },
    event.traceparent,
  );
  await sql(
    tx,
    `INSERT INTO outbox (id, type, subject, sequence, request_id, traceparent, data)
     VALUES ($1, $2, $3, $4, $5, $6, $7::json)`,
    [
      id,
      event.type,
      event.subject,
      event.sequence,
      event.requestId,
      span === undefined ? (event.traceparent ?? null) : traceparentOf(span),
      JSON.stringify(event.data),
    ],
  );
  span?.end();
  return id;
}
