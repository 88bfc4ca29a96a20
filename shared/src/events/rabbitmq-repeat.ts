// What a deleted queue held is lost to RabbitMQ, but not to the outboxes. Whoever finds a consumer's queue gone asks all services
// to publish again what that consumer takes; the inbox sorts out what had arrived.
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { Log } from '../runtime/index.ts';
import { isThere, type Names, repeatQueueArguments } from './rabbitmq-topology.ts';

/** Several replicas find the same loss within moments: their requests become one. */
const gatherFor = 500;

/** Asks every service that ever declared itself by `answerRequests`. */
export async function requestRepeat(
  channel: ConfirmChannel,
  names: Names,
  consumers: readonly string[],
): Promise<void> {
  if (consumers.length === 0) return;
  channel.publish(names.lost, '', Buffer.from(JSON.stringify(consumers)), { persistent: true });
  await channel.waitForConfirms();
}

export interface RepeatOptions {
  readonly names: Names;
  readonly service: string;
  readonly consumers: readonly string[];
  readonly repeat: (consumers: readonly string[]) => Promise<void>;
  readonly log: Log;
}

/** Takes the requests of this service, on a channel of its own; they wait in a queue while the service is down. */
export async function answerRequests(model: ChannelModel, options: RepeatOptions): Promise<void> {
  const { names, log } = options;
  const queue = names.repeat(options.service);
  // A queue that is new may have been lost, and requests with it. Before it is made: should this fail, it is tried again.
  if (!(await isThere(model, queue))) await options.repeat(options.consumers);
  const channel = await model.createChannel();
  channel.on('error', (error) => log.warn({ err: error }, 'requests to publish again are not taken'));
  await channel.assertQueue(queue, { durable: true, arguments: repeatQueueArguments });
  await channel.bindQueue(queue, names.lost, '');

  let gathered: ConsumeMessage[] = [];
  const answer = async (): Promise<void> => {
    const messages = gathered;
    gathered = [];
    try {
      const consumers = [...new Set(messages.flatMap(consumersIn))].filter((name) => options.consumers.includes(name));
      log.warn({ consumers }, 'publishing again what a lost queue may have held');
      await options.repeat(consumers);
      for (const message of messages) channel.ack(message);
    } catch (error) {
      log.warn({ err: error }, 'could not publish again');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      channel.nackAll();
    }
  };
  await channel.consume(queue, (message) => {
    if (message === null) return;
    if (gathered.push(message) === 1) setTimeout(() => answer().catch(() => {}), gatherFor);
  });
}

function consumersIn({ content }: ConsumeMessage): string[] {
  try {
    const value: unknown = JSON.parse(content.toString());
    return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}
