// One consumer in RabbitMQ: its own connection, the deliveries in progress on it, and the outcome of each.
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import { instruments } from '../../telemetry/index.ts';
import { nextTry } from '../retry-policy.ts';
import { BrokerUnavailableError, type Outcome, type Subscription, type Verdict } from '../transport.ts';
import { type Connection, openConnection } from './connection.ts';
import type { RabbitmqOptions } from './options.ts';
import type { Publisher } from './publisher.ts';
import { declareConsumer, declareExchange, isThere, type Names } from './topology.ts';

const resolveAgainAfter = 1_000;

/**
 * Starts a consumer. It continues after every loss of the broker.
 * @throws StartError when the broker rejects credentials, the vhost or the topology
 */
export async function openConsumer(
  options: RabbitmqOptions,
  names: Names,
  publisher: Publisher,
  subscription: Subscription,
): Promise<Consumer> {
  const deliveries = new Deliveries(options, names, publisher, subscription);
  const connection = await openConnection<ConfirmChannel>({
    ...options,
    name: `${options.name} ${subscription.consumer}`,
    setUp: (model, drop) => deliveries.setUp(model, drop),
  });
  return {
    connection,
    async close() {
      await deliveries.finish();
      await connection.close();
    },
  };
}

export interface Consumer {
  readonly connection: Connection<ConfirmChannel>;
  /** Accepts no more deliveries, waits for those in progress, and closes the connection. */
  close(): Promise<void>;
}

class Deliveries {
  readonly #options: RabbitmqOptions;
  readonly #names: Names;
  readonly #publisher: Publisher;
  readonly #subscription: Subscription;
  readonly #inProgress = new Set<Promise<void>>();
  /** The channel on which deliveries can be acknowledged. */
  #open: ConfirmChannel | undefined;
  #stopping = false;
  /** Whether this process has consumed from the queue, and has not reported its loss since. */
  #hasConsumed = false;

  constructor(options: RabbitmqOptions, names: Names, publisher: Publisher, subscription: Subscription) {
    this.#options = options;
    this.#names = names;
    this.#publisher = publisher;
    this.#subscription = subscription;
  }

  async setUp(model: ChannelModel, drop: (reason: string) => void): Promise<ConfirmChannel> {
    const { topology, declares } = this.#options;
    const { consumer, prefetch } = this.#subscription;
    const channel = await model.createConfirmChannel();
    channel.on('error', () => {});
    channel.on('close', () => {
      if (this.#open === channel) this.#open = undefined;
    });
    const queue = this.#names.queue(consumer);
    if (this.#hasConsumed && !(await isThere(model, queue))) this.#reportLoss();
    if (declares === 'all') await declareExchange(channel, this.#names);
    await declareConsumer(channel, this.#names, topology, consumer);
    await channel.prefetch(prefetch);
    this.#open = channel;
    await channel.consume(queue, (message) => {
      if (message === null) {
        // Another process may declare the queue again before this one does.
        this.#reportLoss();
        drop(`${queue} was deleted`);
      } else if (!this.#stopping) {
        const work = this.#handle(channel, message, drop).finally(() => this.#inProgress.delete(work));
        this.#inProgress.add(work);
      }
    });
    this.#hasConsumed = true;
    return channel;
  }

  /** Reports that a queue of the consumer was deleted with its events. Only an operator can republish them. */
  #reportLoss(): void {
    if (!this.#hasConsumed) return;
    this.#hasConsumed = false;
    const { consumer } = this.#subscription;
    instruments.queueLosses.add(1, { 'messaging.consumer.group.name': consumer });
    this.#options.log.error({ consumer }, 'a queue was deleted with its events: run shop events republish');
  }

  /** Accepts no more deliveries and waits for those in progress. */
  async finish(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#inProgress);
  }

  async #handle(channel: ConfirmChannel, message: ConsumeMessage, drop: (reason: string) => void): Promise<void> {
    const { consumer, handle } = this.#subscription;
    const verdict = await handle({ content: message.content.toString(), attempt: attemptOf(message) });
    // On a closed channel nothing can be acknowledged, and the broker delivers the message again.
    while (this.#open === channel) {
      try {
        const outcome = await this.#resolve(message, verdict);
        if (outcome === 'confirmed') return channel.ack(message);
        // The delivery is not retried: waiting would not restore the queue, and each such delivery occupies a slot of
        // the prefetch.
        if (outcome === 'unroutable') {
          this.#reportLoss();
          return drop(`a queue of ${consumer} does not exist, it has to be declared again`);
        }
        throw new BrokerUnavailableError(`the broker did not confirm the next step of a delivery to ${consumer}`);
      } catch (error) {
        this.#options.log.warn({ err: error, consumer }, 'a delivery could not be resolved');
        if (this.#stopping) return;
        await new Promise((resolve) => setTimeout(resolve, resolveAgainAfter));
      }
    }
  }

  /**
   * Publishes a message to its next queue before it is acknowledged. If the process dies in between, the message exists
   * twice, and none is lost.
   */
  async #resolve(message: ConsumeMessage, verdict: Verdict): Promise<Outcome> {
    if (verdict.kind === 'done') return 'confirmed';
    const { consumer } = this.#subscription;
    const attempt = attemptOf(message);
    const next = nextTry(this.#options.topology, attempt, verdict.kind);
    const target = next === undefined ? this.#names.dead(consumer) : this.#names.retry(consumer, next.delay);
    const { messageId, type } = message.properties;
    return this.#publisher.send(this.#names.direct(consumer), target, message.content, {
      messageId,
      type,
      mandatory: true,
      headers: {
        'x-attempt': next?.attempt ?? attempt,
        'x-reason': verdict.reason.slice(0, 2_000),
        ...(next === undefined ? { 'x-dead-at': new Date().toISOString() } : {}),
      },
    });
  }
}

function attemptOf(message: ConsumeMessage): number {
  const attempt: unknown = message.properties.headers?.['x-attempt'];
  return typeof attempt === 'number' && attempt >= 1 ? attempt : 1;
}
