// The topology in RabbitMQ: the exchange of all events, and for each consumer its queue, its retry queues and its dead
// letters.
import type { Channel, ChannelModel } from 'amqplib';
import { toFamily } from '../event.ts';
import { retryDelays } from '../retry-policy.ts';
import type { Topology } from '../transport.ts';

/** Returns the names of exchanges and queues in a namespace. */
export function toNames(namespace: string) {
  return {
    exchange: `${namespace}.events`,
    queue: (consumer: string) => `${namespace}.${consumer}`,
    retry: (consumer: string, seconds: number) => `${namespace}.${consumer}.retry.${seconds}s`,
    dead: (consumer: string) => `${namespace}.${consumer}.dead`,
    /**
     * Returns the exchange that is bound only to the queues of this consumer. A user with access to the broker's
     * default exchange could write to every queue.
     */
    direct: (consumer: string) => `${namespace}.${consumer}.desk`,
  };
}

export type Names = ReturnType<typeof toNames>;

/**
 * The number of deliveries without an outcome, because the consumer died or lost its connection, after which the
 * message becomes a dead letter.
 */
const deliveryLimit = 20;

// The delivery limit of the dead letters. Listing them fetches and returns them, which counts as a delivery, and
// RabbitMQ 4 would drop them at its default limit of 20.
const lookLimit = 1_000_000;

type QueueArguments = Readonly<Record<string, string | number>>;

export interface QueueDeclaration {
  readonly name: string;
  readonly arguments: QueueArguments;
}

export interface BindingDeclaration {
  readonly exchange: string;
  readonly queue: string;
  readonly key: string;
}

/** The exchange, queues and bindings of one consumer. */
export interface ConsumerDeclarations {
  /** The name of its direct exchange. */
  readonly direct: string;
  readonly queues: readonly QueueDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}

/**
 * Returns the arguments of a queue. At-least-once dead-lettering (RabbitMQ 3.10 and later) requires reject-publish. It
 * stores a message until its new queue has accepted it.
 */
function deadLettersTo(exchange: string, queue: string): QueueArguments {
  return {
    'x-dead-letter-exchange': exchange,
    'x-dead-letter-routing-key': queue,
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  };
}

/**
 * Returns the queues of a consumer and their bindings. The main queue is bound without the version of the event types.
 * A later version of an event therefore reaches the consumer and becomes a dead letter, instead of being lost.
 */
export function toDeclarations(names: Names, topology: Topology, consumer: string): ConsumerDeclarations {
  const [direct, main, dead] = [names.direct(consumer), names.queue(consumer), names.dead(consumer)];
  const quorum = { 'x-queue-type': 'quorum' };
  const queues = [
    { name: dead, arguments: { ...quorum, 'x-delivery-limit': lookLimit } },
    ...retryDelays(topology).map((delay) => ({
      name: names.retry(consumer, delay),
      arguments: { ...quorum, 'x-message-ttl': delay * 1000, ...deadLettersTo(direct, main) },
    })),
    { name: main, arguments: { ...quorum, 'x-delivery-limit': deliveryLimit, ...deadLettersTo(direct, dead) } },
  ];
  const families = new Set((topology.consumers[consumer] ?? []).map((type) => toFamily(type)));
  return {
    direct,
    queues,
    bindings: [
      ...queues.map(({ name }) => ({ exchange: direct, queue: name, key: name })),
      ...[...families].map((family) => ({ exchange: names.exchange, queue: main, key: `${family}.*` })),
    ],
  };
}

/** Declares the exchange of all events. */
export async function declareExchange(channel: Channel, names: Names): Promise<void> {
  await channel.assertExchange(names.exchange, 'topic', { durable: true });
}

/**
 * Declares the queues and bindings of one consumer; the exchange must exist. Existing ones with the same arguments stay
 * unchanged.
 */
export async function declareConsumer(
  channel: Channel,
  names: Names,
  topology: Topology,
  consumer: string,
): Promise<void> {
  const { direct, queues, bindings } = toDeclarations(names, topology, consumer);
  await channel.assertExchange(direct, 'direct', { durable: true });
  for (const queue of queues) await channel.assertQueue(queue.name, { durable: true, arguments: queue.arguments });
  for (const { exchange, queue, key } of bindings) await channel.bindQueue(queue, exchange, key);
}

/**
 * Returns whether a queue exists. Uses a separate channel, because RabbitMQ closes the channel on which a queue is
 * missing.
 */
export async function isThere(model: ChannelModel, queue: string): Promise<boolean> {
  const channel = await model.createChannel();
  channel.on('error', () => {});
  try {
    await channel.checkQueue(queue);
    await channel.close();
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 404) return false;
    throw error;
  }
}
