// One event on the wire: CloudEvents 1.0, structured JSON, with the extensions sequence, traceparent and requestid.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Transaction } from '../database/index.ts';
import { type EventPayloads, type EventType, payloadSchemas } from './definitions.ts';

/** An event as a handler gets it: checked against the schema of its type. */
export interface ShopEvent<Type extends EventType = EventType> {
  /** UUID version 7; the same for every delivery of this event. */
  readonly id: string;
  readonly type: Type;
  /** The service that sent it, such as `/orders`. */
  readonly source: string;
  /** The id of the aggregate that changed. */
  readonly subject: string;
  /**
   * The aggregate's version after the change: events may arrive in another order. Comparable among events of one source and subject;
   * `stock.released.v1` and `notification.sent.v1` tell of no version of theirs, and stand each for itself.
   */
  readonly sequence: number;
  readonly time: string;
  /** The request that caused it, from the gateway to the e-mail. */
  readonly requestId: string;
  /** W3C trace context of that request. */
  readonly traceparent: string | undefined;
  readonly data: EventPayloads[Type];
}

/**
 * Takes one event. Runs in the transaction that also holds the inbox row: every statement is given `tx`. Any error rolls back
 * and the event comes again after a delay, at last it becomes a dead letter.
 */
export type EventHandler<Type extends EventType> = (event: ShopEvent<Type>, tx: Transaction) => Promise<void>;

/** A handler of some of the events of its type; the others change nothing, and leave no row in the inbox. */
export interface SelectiveHandler<Type extends EventType> {
  readonly when: (event: ShopEvent<Type>) => boolean;
  readonly take: EventHandler<Type>;
}

/**
 * A handler of several events at once, in one transaction: for a type of which many come. It gets each event once. When it fails,
 * each is handed to it again alone, in a transaction of its own.
 */
export interface BatchHandler<Type extends EventType> {
  readonly takeAll: (events: readonly ShopEvent<Type>[], tx: Transaction) => Promise<void>;
}

export type Handler<Type extends EventType> = EventHandler<Type> | SelectiveHandler<Type> | BatchHandler<Type>;

/** Content that can never be taken, whatever is tried: goes to the dead letters at once. */
export class PoisonError extends Error {
  override readonly name = 'PoisonError';
}

// No schema of schemas: compiling it would take longer than all of ours, at each start.
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateSchema: false });
addFormats.default(ajv);
const validators = new Map<string, ValidateFunction>(
  Object.entries(payloadSchemas).map(([type, schema]) => [type, ajv.compile(schema)]),
);

const validEnvelope = ajv.compile({
  type: 'object',
  properties: {
    specversion: { const: '1.0' },
    id: { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
    source: { type: 'string', minLength: 1 },
    type: { type: 'string', minLength: 1 },
    subject: { type: 'string', minLength: 1 },
    time: { type: 'string', format: 'date-time' },
    sequence: { type: 'string', pattern: '^[0-9]{1,15}$' },
    requestid: { type: 'string', minLength: 1, maxLength: 128 },
    traceparent: { type: 'string' },
    data: { type: 'object' },
  },
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'sequence', 'requestid', 'data'],
});

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly sequence: string;
  readonly time: string;
  readonly requestid: string;
  readonly traceparent?: string;
  readonly data: unknown;
}

/** The mistakes in a payload as one line, or undefined when it is what its type says. */
export function payloadMistakes(type: EventType, data: unknown): string | undefined {
  const validate = validators.get(type);
  if (validate === undefined) return `there is no event type ${type}`;
  return validate(data) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'data' });
}

/** The part of a type that all its versions share: `order.created` of `order.created.v1`. */
export function familyOf(type: string): string {
  return type.replace(/\.v\d+$/, '');
}

/** A row of the outbox on its way out. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: number;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly createdAt: Date;
  /** JSON text. */
  readonly data: string;
}

const sequenceDigits = 10;

/** The JSON text of an event. `sequence` is zero-padded: the extension asks for text that sorts as the numbers do. */
export function toCloudEvent(source: string, event: StoredEvent): string {
  const envelope = JSON.stringify({
    specversion: '1.0',
    id: event.id,
    source,
    type: event.type,
    subject: event.subject,
    time: event.createdAt.toISOString(),
    datacontenttype: 'application/json',
    sequence: String(event.sequence).padStart(sequenceDigits, '0'),
    requestid: event.requestId,
    ...(event.traceparent === null ? {} : { traceparent: event.traceparent }),
  });
  return `${envelope.slice(0, -1)},"data":${event.data}}`;
}

/**
 * Reads what came from a queue.
 * @throws PoisonError when it is no event, of an unknown type or version, or its data breaks the schema
 */
export function parseEvent(content: string): ShopEvent {
  const value = parseJson(content);
  if (!validEnvelope(value)) {
    throw new PoisonError(`not an event: ${ajv.errorsText(validEnvelope.errors, { dataVar: 'event' })}`);
  }
  const envelope = value as Envelope;
  if (!isEventType(envelope.type)) throw new PoisonError(`unknown event type or version ${envelope.type}`);
  const mistakes = payloadMistakes(envelope.type, envelope.data);
  if (mistakes !== undefined) throw new PoisonError(`invalid ${envelope.type}: ${mistakes}`);
  return {
    id: envelope.id,
    type: envelope.type,
    source: envelope.source,
    subject: envelope.subject,
    sequence: Number(envelope.sequence),
    time: envelope.time,
    requestId: envelope.requestid,
    traceparent: envelope.traceparent,
    data: envelope.data as EventPayloads[EventType],
  };
}

function isEventType(type: string): type is EventType {
  return validators.has(type);
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new PoisonError('not an event: the content is no JSON');
  }
}
