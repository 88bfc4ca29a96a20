// The dead letters of all consumers, for operators.
import type { Log } from '../runtime/index.ts';
import { connectTransport } from './connect-transport.ts';
import { shopTopology } from './retry-policy.ts';
import type { DeadLetter, Topology } from './transport.ts';

/** A dead letter with the attributes of its event, if its content is an event. */
export interface ReadableDeadLetter extends DeadLetter {
  readonly type: string | undefined;
  readonly subject: string | undefined;
  readonly requestId: string | undefined;
  /** When its service sent the event (RFC 3339), if the content has a time. */
  readonly sentAt: string | undefined;
}

export interface DeadLetterStore {
  /** Returns the oldest dead letters, at most `limit` of each consumer. */
  list(consumer?: string, limit?: number): Promise<readonly ReadableDeadLetter[]>;
  /** Returns undefined when no consumer has a dead letter with that id. */
  show(id: string, consumer?: string): Promise<ReadableDeadLetter | undefined>;
  /** Returns the event to its consumer's queue. Resolves to false when no dead letter has that id. */
  replay(id: string, consumer?: string): Promise<boolean>;
  /** Deletes the dead letter. Resolves to false when no dead letter has that id. */
  discard(id: string, consumer?: string): Promise<boolean>;
  /** Returns the number of events of each consumer that failed and wait for another attempt. */
  retrying(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export interface DeadLetterOptions {
  /** The value of EVENTS_URL. */
  readonly url: string;
  readonly log: Log;
  readonly topology?: Topology;
}

const searchLimit = 10_000;

/** @throws BrokerUnavailableError when the broker does not respond within 5 s */
export async function openDeadLetters({
  url,
  log,
  topology = shopTopology,
}: DeadLetterOptions): Promise<DeadLetterStore> {
  const transport = await connectTransport({ url, name: 'dead letters', topology, log });
  try {
    await transport.ping();
  } catch (error) {
    await transport.close();
    throw error;
  }
  const all = Object.keys(topology.consumers);
  const list = async (consumer?: string, limit = 100): Promise<readonly ReadableDeadLetter[]> => {
    const letters: ReadableDeadLetter[] = [];
    for (const each of consumer === undefined ? all : [consumer]) {
      letters.push(...(await transport.deadLetters(each, limit)).map(readable));
    }
    return letters;
  };
  /**
   * Applies an action to the named consumer, or to all of them without a name. An event may be a dead letter of several
   * consumers.
   */
  const each = async (named: string | undefined, act: (consumer: string) => Promise<boolean>): Promise<boolean> => {
    let found = false;
    for (const consumer of named === undefined ? all : [named]) found = (await act(consumer)) || found;
    return found;
  };
  return {
    list,
    show: async (id, consumer) => (await list(consumer, searchLimit)).find((letter) => letter.id === id),
    replay: (id, named) => each(named, (consumer) => transport.replay(consumer, id)),
    discard: (id, named) => each(named, (consumer) => transport.discard(consumer, id)),
    retrying: async () => {
      const depths = await Promise.all(all.map(async (name) => [name, (await transport.depth(name)).delayed] as const));
      return Object.fromEntries(depths);
    },
    close: () => transport.close(),
  };
}

function readable(letter: DeadLetter): ReadableDeadLetter {
  const event = membersOf(letter.content);
  const text = (name: string): string | undefined => {
    const value = event[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    ...letter,
    type: text('type'),
    subject: text('subject'),
    requestId: text('requestid'),
    sentAt: text('time'),
  };
}

function membersOf(content: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
