// Recovers the messages of a deleted queue. They are lost in RabbitMQ and still exist in the outboxes. The process that
// finds a consumer's queue missing asks all services to publish that consumer's events again. The inbox ignores events
// that had already been handled.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { Log } from '../../runtime/index.ts';
import type { Topology } from '../transport.ts';
import { declareConsumer, findLost, isThere, type Names, repeatQueueArguments } from './topology.ts';

/**
 * Milliseconds for which requests are collected. Several replicas detect the same loss at about the same time, and
 * their requests are answered together.
 */
const gatherFor = 500;
const againAfter = 1_000;

/** Sends a request to every service that has ever called `answerRepublishRequests`. */
export async function requestRepublish(
  channel: ConfirmChannel,
  names: Names,
  consumers: readonly string[],
): Promise<void> {
  if (consumers.length === 0) return;
  channel.publish(names.lost, '', Buffer.from(JSON.stringify(consumers)), { persistent: true });
  await channel.waitForConfirms();
}

/**
 * Declares the queues of consumers, and requests the events that a lost queue may have held. The first request is for a
 * process that ends when it has declared a queue: the next one would find the queue, and request nothing. The second
 * one, after each declaration, is for events that were published again meanwhile, and reached only the queues that
 * existed. A service answers both together, unless the declaration takes long.
 *
 * @param known consumers whose queue was lost, also if it exists again
 */
export async function restoreQueues(
  model: ChannelModel,
  channel: ConfirmChannel,
  names: Names,
  topology: Topology,
  consumers: readonly string[],
  known: readonly string[] = [],
): Promise<void> {
  const lost = [...known, ...(await findLost(model, names, topology, consumers))];
  await requestRepublish(channel, names, lost);
  for (const consumer of consumers) {
    await declareConsumer(channel, names, topology, consumer);
    if (lost.includes(consumer)) await requestRepublish(channel, names, [consumer]);
  }
}

export interface RepeatOptions {
  readonly names: Names;
  readonly service: string;
  readonly consumers: readonly string[];
  readonly repeat: (consumers: readonly string[]) => Promise<void>;
  readonly log: Log;
}

/**
 * Answers the requests to this service, on a separate channel. They wait in a queue while the service is not running.
 * `drop` closes the connection, and is called when requests can no longer be received.
 */
export async function answerRepublishRequests(
  model: ChannelModel,
  options: RepeatOptions,
  drop: (reason: string) => void,
): Promise<void> {
  const { names, log } = options;
  const queue = names.repeat(options.service);
  const isNew = !(await isThere(model, queue));
  const channel = await model.createChannel();
  let open = true;
  channel.on('error', (error) => log.warn({ err: error }, 'requests to publish again are not taken'));
  channel.on('close', () => {
    open = false;
    drop(`${queue} is not taken from`);
  });

  const repeat = (consumers: readonly string[]) => repeatWhile(() => open, options, consumers);
  let gathered: ConsumeMessage[] = [];
  const answer = async (): Promise<void> => {
    await sleep(gatherFor);
    const messages = gathered;
    gathered = [];
    const asked = new Set(messages.flatMap(consumersIn));
    const consumers = options.consumers.filter((name) => asked.has(name));
    log.warn({ consumers }, 'publishing again what a lost queue may have held');
    await repeat(consumers);
    // An acknowledgement on a closed channel throws, and the messages are delivered again.
    for (const message of messages) channel.ack(message);
  };
  const take = async (): Promise<void> => {
    await channel.assertQueue(queue, { durable: true, arguments: repeatQueueArguments });
    await channel.bindQueue(queue, names.lost, '');
    let answered = Promise.resolve();
    await channel.consume(queue, (message) => {
      if (message === null) drop(`${queue} was deleted`);
      else if (gathered.push(message) === 1) answered = answered.then(answer).catch(() => {});
    });
  };

  if (!isNew) return take();
  // A new queue may replace a lost one, whose requests are lost, too. All events are therefore published again before
  // the queue is declared, so that a process that dies in between repeats this. Requests that were sent meanwhile
  // reached no queue, so the events are published again a second time. New events do not wait for this.
  log.info(
    { consumers: options.consumers },
    'publishing again what a lost queue may have held, or lost requests asked for',
  );
  repeat(options.consumers)
    .then(take)
    .then(() => repeat(options.consumers))
    .catch(() => drop(`${queue} could not be made`));
}

/** Retries until it succeeds or the channel is closed. The broker drops a request that is returned too often. */
async function repeatWhile(
  open: () => boolean,
  { repeat, log }: RepeatOptions,
  consumers: readonly string[],
): Promise<void> {
  while (open()) {
    try {
      return await repeat(consumers);
    } catch (error) {
      log.warn({ err: error }, 'could not publish again');
      await sleep(againAfter);
    }
  }
}

function consumersIn({ content }: ConsumeMessage): string[] {
  try {
    const value: unknown = JSON.parse(content.toString());
    return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}
