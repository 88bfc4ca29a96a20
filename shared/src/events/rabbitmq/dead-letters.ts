// The dead letters of a consumer in RabbitMQ. To list them, they are fetched and returned to their queue.
import { createHash } from 'node:crypto';
import type { GetMessage } from 'amqplib';
import type { DeadLetter, Transport } from '../transport.ts';
import type { Publisher } from './publisher.ts';
import type { Names } from './topology.ts';

export function deadLettersOf(
  names: Names,
  publisher: Publisher,
): Pick<Transport, 'deadLetters' | 'replay' | 'discard'> {
  /** Fetches dead letters until `look` returns true. Those that `look` did not acknowledge return to their position. */
  const walk = async (consumer: string, look: (message: GetMessage, ack: () => void) => Promise<boolean>) => {
    const channel = await publisher.connection.model().createChannel();
    channel.on('error', () => {});
    try {
      for (;;) {
        const message = await channel.get(names.dead(consumer));
        if (message === false || (await look(message, () => channel.ack(message)))) return;
      }
    } finally {
      await channel.close();
    }
  };

  const resolve = async (
    consumer: string,
    id: string,
    before: (message: GetMessage) => Promise<void>,
  ): Promise<boolean> => {
    let found = false;
    await walk(consumer, async (message, ack) => {
      if (idOf(message) !== id) return false;
      await before(message);
      ack();
      found = true;
      return true;
    });
    return found;
  };

  return {
    async deadLetters(consumer, limit) {
      const letters: DeadLetter[] = [];
      if (limit < 1) return letters;
      await walk(consumer, async (message) => letters.push(toDeadLetter(consumer, message)) >= limit);
      return letters;
    },
    replay: (consumer, id) =>
      resolve(consumer, id, async (message) => {
        const { messageId, type } = message.properties;
        await publisher.sendTo(consumer, message.content, { messageId, type });
      }),
    discard: (consumer, id) => resolve(consumer, id, async () => {}),
  };
}

/** Returns the event's id, or a digest of the content of a message without an id. */
function idOf(message: GetMessage): string {
  const { messageId } = message.properties as { messageId?: unknown };
  return typeof messageId === 'string' && messageId !== ''
    ? messageId
    : createHash('sha256').update(message.content).digest('hex').slice(0, 16);
}

function toDeadLetter(consumer: string, message: GetMessage): DeadLetter {
  const headers: Readonly<Record<string, unknown>> = message.properties.headers ?? {};
  const [death] = Array.isArray(headers['x-death'])
    ? (headers['x-death'] as { reason?: unknown; time?: unknown }[])
    : [];
  return {
    consumer,
    id: idOf(message),
    reason:
      typeof headers['x-dead-at'] === 'string'
        ? String(headers['x-reason'])
        : `given up by the broker: ${death?.reason ?? 'unknown'}`,
    attempts: typeof headers['x-attempt'] === 'number' ? headers['x-attempt'] : 1,
    deadAt: typeof headers['x-dead-at'] === 'string' ? headers['x-dead-at'] : undefined,
    content: message.content.toString(),
  };
}
