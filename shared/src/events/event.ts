// Serializes an event as CloudEvents 1.0 structured JSON, with the extensions sequence, previoussequence, traceparent
// and requestid.
import type { Transaction } from '../database/index.ts';
import type { EventPayloads, EventType } from './generated.ts';
import { isEventType, validateEnvelope, validatePayload } from './validate-event.ts';

/** An event as a handler receives it, validated against the schema of its type. */
export interface ShopEvent<Type extends EventType = EventType> {
  /** UUID version 7; the same for every delivery of this event. */
  readonly id: string;
  readonly type: Type;
  /** The service that sent it, such as `/orders`. */
  readonly source: string;
  /** The id of the aggregate that changed. */
  readonly subject: string;
  /**
   * The aggregate's version after the change, because events may arrive out of order. It is comparable among events of
   * one source and subject. In `stock.released.v1` and `notification.sent.v1` it has no meaning.
   */
  readonly sequence: number;
  /**
   * The sequence of the event before it of the same source and subject. Undefined in the first one, in events without
   * an order, and in those that a process of the previous release published.
   */
  readonly previousSequence: number | undefined;
  readonly time: string;
  /** The id of the request that caused the event, the same from the gateway to the e-mail. */
  readonly requestId: string;
  /** W3C trace context of that request. */
  readonly traceparent: string | undefined;
  readonly data: EventPayloads[Type];
}

/**
 * Handles one event in the transaction of the inbox row, in which every statement has to run. After an error the
 * transaction is rolled back, and the event is delivered again after a delay. After the last attempt it becomes a dead
 * letter.
 */
export type EventHandler<Type extends EventType> = (event: ShopEvent<Type>, tx: Transaction) => Promise<void>;

/** A handler of some of the events of its type. The other events have no effect and no row in the inbox. */
export interface SelectiveHandler<Type extends EventType> {
  readonly when: (event: ShopEvent<Type>) => boolean;
  readonly handle: EventHandler<Type>;
}

/**
 * A handler of several events in one transaction, for a frequent type. It receives each event once. When it fails, it
 * receives each event again alone, in a separate transaction.
 */
export interface BatchHandler<Type extends EventType> {
  readonly handleAll: (events: readonly ShopEvent<Type>[], tx: Transaction) => Promise<void>;
}

export type Handler<Type extends EventType> = EventHandler<Type> | SelectiveHandler<Type> | BatchHandler<Type>;

/** Thrown for content that can never be handled. It becomes a dead letter without a retry. */
export class PoisonError extends Error {
  override readonly name = 'PoisonError';
}

/** Returns the part of a type that all its versions share: `order.created` for `order.created.v1`. */
export function toFamily(type: string): string {
  return type.replace(/\.v\d+$/, '');
}

/** A row of the outbox that is being published. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: number;
  readonly previousSequence: number | null;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly createdAt: Date;
  /** JSON text. */
  readonly data: string;
}

/** Zero-padded, because the extension `sequence` requires a string that sorts like its number. */
function serializeSequence(sequence: number): string {
  return String(sequence).padStart(10, '0');
}

/** Returns the JSON text of an event. */
export function toCloudEvent(source: string, event: StoredEvent): string {
  const envelope = JSON.stringify({
    specversion: '1.0',
    id: event.id,
    source,
    type: event.type,
    subject: event.subject,
    time: event.createdAt.toISOString(),
    datacontenttype: 'application/json',
    sequence: serializeSequence(event.sequence),
    ...(event.previousSequence === null ? {} : { previoussequence: serializeSequence(event.previousSequence) }),
    requestid: event.requestId,
    ...(event.traceparent === null ? {} : { traceparent: event.traceparent }),
  });
  return `${envelope.slice(0, -1)},"data":${event.data}}`;
}

/**
 * Parses the content of a message.
 * @throws PoisonError when the content is not an event, its type or version is unknown, or its data violates the schema
 */
export function parseEvent(content: string): ShopEvent {
  const event = validateEnvelope(parseJson(content));
  if (!event.valid) throw new PoisonError(`not an event: ${event.errors}`);
  const { id, type, source, subject, sequence, previoussequence, time, requestid, traceparent } = event.value;
  if (!isEventType(type)) throw new PoisonError(`unknown event type or version ${type}`);
  const data = validatePayload(type, event.value.data);
  if (!data.valid) throw new PoisonError(`invalid ${type}: ${data.errors}`);
  return {
    id,
    type,
    source,
    subject,
    sequence: Number(sequence),
    previousSequence: previoussequence === undefined ? undefined : Number(previoussequence),
    time,
    requestId: requestid,
    traceparent,
    data: data.value,
  };
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new PoisonError('not an event: the content is no JSON');
  }
}
