// Events over RabbitMQ: one connection publishes, and each consumer has a separate connection.
import type { ConfirmChannel } from 'amqplib';
import { retryDelays } from '../retry-policy.ts';
import type { QueueDepth, Transport } from '../transport.ts';
import type { Connection } from './connection.ts';
import { openConsumer } from './consumer.ts';
import { deadLettersOf } from './dead-letters.ts';
import type { RabbitmqOptions } from './options.ts';
import { openPublisher } from './publisher.ts';
import { toNames } from './topology.ts';

/** @throws StartError when the broker rejects credentials, the vhost or the topology */
export async function connectRabbitmq(options: RabbitmqOptions): Promise<Transport> {
  const names = toNames(options.namespace);
  const delays = retryDelays(options.topology);
  const publisher = await openPublisher(options, names);
  const connections = new Set([publisher.connection]);

  return {
    publish: (messages) => publisher.publish(messages),
    async subscribe(subscription) {
      const consumer = await openConsumer(options, names, publisher, subscription);
      connections.add(consumer.connection);
      return async () => {
        await consumer.close();
        connections.delete(consumer.connection);
      };
    },
    depth(consumer) {
      const retries = delays.map((delay) => names.retry(consumer, delay));
      return depthOf(publisher.connection, {
        queue: names.queue(consumer),
        retries,
        dead: names.dead(consumer),
      });
    },
    ...deadLettersOf(names, publisher),
    async ping() {
      for (const connection of connections) connection.channel();
      publisher.requireUnblocked();
    },
    async close() {
      await Promise.all([...connections].map((connection) => connection.close()));
    },
  };
}

interface QueueNames {
  readonly queue: string;
  readonly retries: readonly string[];
  readonly dead: string;
}

/** Counts on a separate channel, because RabbitMQ closes the channel on which a queue is missing. */
async function depthOf(
  connection: Connection<ConfirmChannel>,
  { queue, retries, dead }: QueueNames,
): Promise<QueueDepth> {
  const channel = await connection.model().createChannel();
  channel.on('error', () => {});
  try {
    const messagesIn = async (name: string) => (await channel.checkQueue(name)).messageCount;
    const delayed = await Promise.all(retries.map(messagesIn));
    return {
      waiting: await messagesIn(queue),
      delayed: delayed.reduce((sum, messages) => sum + messages, 0),
      dead: await messagesIn(dead),
    };
  } finally {
    await channel.close().catch(() => {});
  }
}
