// The broker's own counts of its queues, which are read without the services.
import { type ConfirmChannel, connect } from 'amqplib';
import { shopTopology } from '../../../shared/src/events/index.ts';
import { toDeclarations, toNames } from '../../../shared/src/events/rabbitmq/topology.ts';
import type { Deployment } from './deployment.ts';

const names = toNames('shop');
const consumers = Object.keys(shopTopology.consumers);

/** The queue of each consumer. */
export const consumerQueues: readonly string[] = consumers.map(names.queue);
const allQueues = consumers.flatMap((consumer) => toDeclarations(names, shopTopology, consumer).queues);

/** Runs `use` with a connection that bypasses the proxy. */
export async function withChannel<T>(
  { brokerUrl }: Pick<Deployment, 'brokerUrl'>,
  use: (channel: ConfirmChannel) => Promise<T>,
): Promise<T> {
  const connection = await connect(brokerUrl, { timeout: 10_000 });
  connection.on('error', () => {});
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => {});
    return await use(channel);
  } finally {
    await connection.close().catch(() => {});
  }
}

export interface QueueCount {
  readonly queue: string;
  readonly count: number;
  readonly dead: boolean;
}

/** Returns every non-empty queue of a consumer: waiting events, retries and dead letters. */
export function fullQueues(system: Pick<Deployment, 'brokerUrl'>): Promise<QueueCount[]> {
  return withChannel(system, async (channel) => {
    const counts: QueueCount[] = [];
    for (const { name: queue } of allQueues) {
      const { messageCount: count } = await channel.checkQueue(queue);
      if (count > 0) counts.push({ queue, count, dead: queue.endsWith('.dead') });
    }
    return counts;
  });
}
