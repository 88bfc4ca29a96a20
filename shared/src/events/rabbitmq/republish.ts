// The messages of a deleted queue are lost in RabbitMQ and still exist in the outboxes. The process that finds a
// consumer's queue missing asks all services to publish that consumer's events again. The inbox ignores the events that
// had arrived.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { Log } from '../../runtime/index.ts';
import { isThere, type Names, repeatQueueArguments } from './topology.ts';

/** Milliseconds. Several replicas detect the same loss at about the same time: their requests are answered together. */
const gatherFor = 500;
const againAfter = 1_000;

/** Asks every service that ever declared itself by `answerRepublishRequests`. */
export async function requestRepublish(
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

/**
 * Answers the requests to this service, on a separate channel. They wait in a queue while the service is down. `drop`
 * closes the connection; it is called when requests can no longer be received.
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
    // Throws when the channel is closed: the messages are delivered again.
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
  // A new queue may replace a lost one, whose requests are lost too. The queue is declared after publishing, so that a
  // process that dies before that publishes again. Requests of the meantime reached no queue, hence the second time.
  // New events do not wait for this.
  log.info(
    { consumers: options.consumers },
    'publishing again what a lost queue may have held, or lost requests asked for',
  );
  repeat(options.consumers)
    .then(take)
    .then(() => repeat(options.consumers))
    .catch(() => drop(`${queue} could not be made`));
}

/** Retries until it succeeds or the channel is closed. The broker gives up a request that is returned too often. */
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
