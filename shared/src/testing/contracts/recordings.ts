// Consumer contracts: the calls and events that one workspace sends to a service or receives from it.
// shared/contracts/recordings.yaml defines their schema.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { readYaml, toNode } from '../../contract/index.ts';
import { parseEvent, toCloudEvent } from '../../events/event.ts';
import type { EventPayloads, EventType } from '../../events/index.ts';
import type { Message } from '../../events/transport.ts';
import { newId } from '../../runtime/index.ts';
import { type ServiceName, serviceNames } from '../../shop/index.ts';
import { fillIn, type Values } from './placeholders.ts';

interface Recorded {
  /** The workspace that contains the recording: a service, `gateway` or `shared`. */
  readonly consumer: string;
  readonly provider: ServiceName;
  /** The state of the provider. */
  readonly given: string;
}

export interface RecordedCall extends Recorded {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** Undefined when the request has no body. */
  readonly body: unknown;
  readonly status: number;
  /** The members of the response that the consumer reads; undefined when it reads none. */
  readonly response: unknown;
}

export interface RecordedEvent extends Recorded {
  readonly type: EventType;
  /** The members of the event's data that the consumer reads. */
  readonly data: unknown;
}

/** Which recordings to read; those of all consumers or providers by default. */
export interface RecordingFilter {
  readonly consumer?: string;
  readonly provider?: ServiceName;
}

interface Recordings {
  readonly calls?: readonly { given: string; request: string; body?: unknown; status: number; response?: unknown }[];
  readonly events?: readonly { given: string; type: string; data: unknown }[];
}

const root = fileURLToPath(new URL('../../../..', import.meta.url));

let compiled: ValidateFunction<Recordings> | undefined;

/** Compiles the schema at its first use, because most test files read no recordings. */
function validator(): ValidateFunction<Recordings> {
  const schema = join(root, 'shared/contracts/recordings.yaml');
  compiled ??= new Ajv2020({ allErrors: true }).compile<Recordings>(toNode(readYaml(schema)));
  return compiled;
}

/**
 * Returns the recorded calls.
 * @throws Error when a file violates the schema of recordings
 */
export function recordedCalls(filter: RecordingFilter): RecordedCall[] {
  return filesOf(filter).flatMap(({ consumer, provider, recordings }) =>
    (recordings.calls ?? []).map(({ request, body, response, ...call }) => {
      const [method = '', path = ''] = request.split(' ');
      return { consumer, provider, ...call, method, path, body, response };
    }),
  );
}

/**
 * Returns the recorded events.
 * @throws Error when a file violates the schema of recordings, or an event violates the schema of its type
 */
export function recordedEvents(filter: RecordingFilter): RecordedEvent[] {
  return filesOf(filter).flatMap(({ consumer, provider, recordings }) =>
    (recordings.events ?? []).map((event) => {
      const { type } = parseEvent(contentOf({ ...event, provider }, new Map()));
      return { consumer, provider, ...event, type };
    }),
  );
}

function filesOf({ consumer = '*', provider = '*' as ServiceName }: RecordingFilter) {
  const pattern = `{services/${consumer},${consumer}}/test/contracts/${provider}.yaml`;
  return globSync(pattern, { cwd: root }).map((path) => {
    const recordings: unknown = load(readFileSync(join(root, path), 'utf8'), {
      schema: CORE_SCHEMA.withTags(mergeTag),
    });
    const isValid = validator();
    if (!isValid(recordings)) throw new Error(`${path}: ${JSON.stringify(isValid.errors)}`);
    const name = serviceNames.find((service) => service === basename(path, '.yaml'));
    if (name === undefined) throw new Error(`${path} is not named after a service`);
    const [workspace = ''] = path.replace('services/', '').split('/');
    return { consumer: workspace, provider: name, recordings };
  });
}

/** Returns a message with the recorded event. Placeholders without a value get one, which is added to `values`. */
export function messageOf(event: RecordedEvent, values: Values = new Map(), sequence = 1): Message {
  const content = contentOf(event, values, sequence);
  return { id: parseEvent(content).id, type: event.type, content };
}

/** Returns the recorded event of a type. @throws Error when not exactly one of the events has the type */
export function eventOf(events: readonly RecordedEvent[], type: EventType): RecordedEvent {
  const [event, ...others] = events.filter((each) => each.type === type);
  if (event === undefined || others.length > 0) throw new Error(`${type} is not recorded once`);
  return event;
}

/**
 * Returns the data of the recorded event of a type.
 * @throws Error when not exactly one of the events has the type
 */
export function dataOf<Type extends EventType>(
  events: readonly RecordedEvent[],
  type: Type,
  values: Values = new Map(),
): EventPayloads[Type] {
  // The type of the event is the requested one, and parseEvent has validated its data.
  return parseEvent(contentOf(eventOf(events, type), values)).data as EventPayloads[Type];
}

function contentOf(
  { provider, type, data }: Pick<RecordedEvent, 'provider' | 'data'> & { readonly type: string },
  values: Values,
  sequence = 1,
): string {
  const filled = fillIn(data, values);
  const { orderId, accountId, productId, settingId } = toNode(filled);
  return toCloudEvent(`/${provider}`, {
    id: newId(),
    type,
    subject: String(orderId ?? accountId ?? productId ?? settingId),
    sequence,
    previousSequence: null,
    requestId: newId(),
    traceparent: null,
    createdAt: new Date(),
    data: JSON.stringify(filled),
  });
}
