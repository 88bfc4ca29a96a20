// What exists in RabbitMQ: the exchange, and for each consumer its queue, its retry queues and its dead letters.
import type { Channel, Options } from 'amqplib';
import { familyOf } from './event.ts';
import type { Topology } from './transport.ts';

/** The names that one namespace gives. */
export function namesOf(namespace: string) {
  return {
    exchange: `${namespace}.events`,
    queue: (consumer: string) => `${namespace}.${consumer}`,
    retry: (consumer: string, seconds: number) => `${namespace}.${consumer}.retry.${seconds}s`,
    dead: (consumer: string) => `${namespace}.${consumer}.dead`,
  };
}

export type Names = ReturnType<typeof namesOf>;

/** The delay before each retry, in seconds. */
export function retryDelays({ retries, retryDelay }: Topology): number[] {
  return Array.from({ length: retries }, (_, index) => retryDelay * 2 ** index);
}

/** Deliveries that end without a verdict, because the consumer died or lost its connection, before the message is a dead letter. */
const deliveryLimit = 20;

// Dead letters are looked at by taking and giving back, which counts as a delivery; RabbitMQ 4 would drop them at its default
// limit of 20.
const lookLimit = 1_000_000;

/** At-least-once dead-lettering (RabbitMQ 3.10 and later) needs reject-publish, and keeps a message until its new queue has it. */
function quorum(
  deadLetterQueue: string | undefined,
  limits: { deliveries?: number; ttl?: number },
): Options.AssertQueue {
  return {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      ...(limits.deliveries === undefined ? {} : { 'x-delivery-limit': limits.deliveries }),
      ...(limits.ttl === undefined ? {} : { 'x-message-ttl': limits.ttl }),
      ...(deadLetterQueue === undefined
        ? {}
        : {
            'x-dead-letter-exchange': '',
            'x-dead-letter-routing-key': deadLetterQueue,
            'x-dead-letter-strategy': 'at-least-once',
            'x-overflow': 'reject-publish',
          }),
    },
  };
}

/**
 * Declares everything; what exists already with the same arguments is left alone. Queues are bound by the event's family, so
 * that a later version of an event reaches the consumer, and becomes a dead letter there instead of vanishing.
 */
export async function declareTopology(channel: Channel, names: Names, topology: Topology): Promise<void> {
  await channel.assertExchange(names.exchange, 'topic', { durable: true });
  for (const [consumer, types] of Object.entries(topology.consumers)) {
    const queue = names.queue(consumer);
    await channel.assertQueue(names.dead(consumer), quorum(undefined, { deliveries: lookLimit }));
    for (const delay of retryDelays(topology)) {
      await channel.assertQueue(names.retry(consumer, delay), quorum(queue, { ttl: delay * 1000 }));
    }
    await channel.assertQueue(queue, quorum(names.dead(consumer), { deliveries: deliveryLimit }));
    for (const family of new Set(types.map(familyOf))) {
      await channel.bindQueue(queue, names.exchange, `${family}.*`);
    }
  }
}
