// One consumer in RabbitMQ: a connection of its own, what is in work on it, and what becomes of each delivery.
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { BrokerUnavailableError, nextTry, type Outcome, type Subscription, type Verdict } from '../transport.ts';
import { type Link, openConnection } from './connection.ts';
import type { Send } from './dead-letters.ts';
import type { RabbitmqOptions } from './options.ts';
import { requestRepublish } from './republish.ts';
import { declareConsumer, declareTopology, type Names } from './topology.ts';

const settleAgainAfter = 1_000;

/**
 * Starts a consumer; its link goes on after every loss of the broker.
 * @returns `finish` takes no more deliveries and resolves when none is in work; the link is then still open
 * @throws StartError when the broker refuses credentials, the vhost or the topology
 */
export async function openConsumer(
  options: RabbitmqOptions,
  names: Names,
  send: Send,
  { consumer, prefetch, take }: Subscription,
): Promise<{ readonly link: Link<ConfirmChannel>; readonly finish: () => Promise<void> }> {
  const { topology, declares, log } = options;
  const inWork = new Set<Promise<void>>();
  let open: ConfirmChannel | undefined;
  let stopping = false;
  let deleted = false;

  /** Moves a message on, to be acknowledged then: a death in between makes a duplicate, never a loss. */
  const settle = async (message: ConsumeMessage, verdict: Verdict): Promise<Outcome> => {
    if (verdict.kind === 'done') return 'confirmed';
    const attempt = attemptOf(message);
    const next = nextTry(topology, attempt, verdict.kind);
    const target = next === undefined ? names.dead(consumer) : names.retry(consumer, next.delay);
    const { messageId, type } = message.properties;
    return send(names.desk(consumer), target, message.content, {
      messageId,
      type,
      mandatory: true,
      headers: {
        'x-attempt': next?.attempt ?? attempt,
        'x-reason': verdict.reason.slice(0, 2_000),
        ...(next === undefined ? { 'x-dead-at': new Date().toISOString() } : {}),
      },
    });
  };

  const handle = async (
    channel: ConfirmChannel,
    message: ConsumeMessage,
    drop: (reason: string) => void,
  ): Promise<void> => {
    const verdict = await take({ content: message.content.toString(), attempt: attemptOf(message) });
    // Once the channel is gone nothing can be settled on it: the broker delivers the message again.
    while (open === channel) {
      try {
        const outcome = await settle(message, verdict);
        if (outcome === 'confirmed') return channel.ack(message);
        // Waiting would not bring the queue back, and each such delivery keeps one place of the prefetch.
        if (outcome === 'unroutable') return drop(`a queue of ${consumer} is gone, it has to be declared again`);
        throw new BrokerUnavailableError(`the broker did not confirm what becomes of a delivery to ${consumer}`);
      } catch (error) {
        log.warn({ err: error, consumer }, 'a delivery could not be settled');
        if (stopping) return;
        await new Promise((resolve) => setTimeout(resolve, settleAgainAfter));
      }
    }
  };

  const link = await openConnection<ConfirmChannel>({
    ...options,
    name: `${options.name} ${consumer}`,
    async setUp(model, drop) {
      const channel = await model.createConfirmChannel();
      channel.on('error', () => {});
      channel.on('close', () => {
        if (open === channel) open = undefined;
      });
      const lost =
        declares === 'all'
          ? await declareTopology(model, channel, names, topology)
          : await declareConsumer(model, channel, names, topology, consumer);
      await requestRepublish(channel, names, deleted ? [...lost, consumer] : lost);
      deleted = false;
      await channel.prefetch(prefetch);
      open = channel;
      await channel.consume(names.queue(consumer), (message) => {
        if (message === null) {
          deleted = true; // somebody else may declare it again before this process does
          drop(`${names.queue(consumer)} was deleted`);
        } else if (!stopping) {
          const work = handle(channel, message, drop).finally(() => inWork.delete(work));
          inWork.add(work);
        }
      });
      return channel;
    },
  });
  return {
    link,
    async finish() {
      stopping = true;
      await Promise.all(inWork);
    },
  };
}

function attemptOf(message: ConsumeMessage): number {
  const attempt: unknown = message.properties.headers?.['x-attempt'];
  return typeof attempt === 'number' && attempt >= 1 ? attempt : 1;
}
