// Events over RabbitMQ: one connection that publishes, one for each consumer, the same topology declared by all of them.
import type { ConfirmChannel, Options } from 'amqplib';
import { BrokerUnavailableError, type Message, type Outcome, retryDelays, type Transport } from '../transport.ts';
import { openConnection } from './connection.ts';
import { openConsumer } from './consumer.ts';
import { deadLettersOf, type Send } from './dead-letters.ts';
import type { RabbitmqOptions } from './options.ts';
import { answerRepublishRequests, requestRepublish } from './republish.ts';
import { declareTopology, namesOf } from './topology.ts';

interface Outgoing {
  readonly exchange: string;
  readonly key: string;
  readonly content: Buffer;
  readonly properties: Options.Publish;
}

const confirmWithin = 5_000;

/** @throws StartError when the broker refuses credentials, the vhost or the topology */
export async function connectRabbitmq(options: RabbitmqOptions): Promise<Transport> {
  const { topology, declares, log } = options;
  const names = namesOf(options.namespace);
  const delays = retryDelays(topology);
  let serial = 0;
  const returned = new Set<string>();

  const publisher = await openConnection<ConfirmChannel>({
    ...options,
    name: `${options.name} publisher`,
    async setUp(model, drop) {
      const channel = await model.createConfirmChannel();
      channel.on('error', () => {});
      const lost = declares === 'all' ? await declareTopology(model, channel, names, topology) : [];
      if (declares === 'own') await channel.checkExchange(names.exchange);
      if (options.repeat !== undefined) {
        const answering = { names, service: options.name, consumers: Object.keys(topology.consumers), log };
        await answerRepublishRequests(model, { ...answering, repeat: options.repeat }, drop);
      }
      await requestRepublish(channel, names, lost);
      returned.clear();
      channel.on('return', (message) => returned.add(String(message.properties.correlationId)));
      return channel;
    },
  });

  /** Sends messages and waits for their confirms; the broker returns an unroutable one before it confirms it. */
  const sendAll = (messages: readonly Outgoing[]): Promise<readonly Outcome[]> => {
    const blocked = publisher.blocked();
    if (blocked !== undefined) throw new BrokerUnavailableError(`RabbitMQ is blocked: ${blocked}`);
    const channel = publisher.channel();
    if (messages.length === 0) return Promise.resolve([]);
    const outcomes: Outcome[] = messages.map(() => 'unknown');
    return new Promise((resolve, reject) => {
      let open = messages.length;
      const timer = setTimeout(() => {
        resolve([...outcomes]);
        if (publisher.blocked() !== undefined) return; // says so itself, and will say when it goes on
        publisher.drop(`no confirm within ${confirmWithin / 1000} s`); // frees what the broker did not take
      }, confirmWithin);
      try {
        messages.forEach(({ exchange, key, content, properties }, index) => {
          serial += 1;
          const correlationId = String(serial);
          const all = { contentType: 'application/cloudevents+json', persistent: true, ...properties, correlationId };
          channel.publish(exchange, key, content, all, (error) => {
            const back = returned.delete(correlationId);
            if (!error) outcomes[index] = back ? 'unroutable' : 'confirmed';
            open -= 1;
            if (open > 0) return;
            clearTimeout(timer);
            resolve(outcomes);
          });
        });
      } catch (error) {
        clearTimeout(timer); // the channel closed a moment ago
        reject(new BrokerUnavailableError('RabbitMQ is away', { cause: error }));
      }
    });
  };
  const send: Send = async (exchange, key, content, properties) => {
    const [outcome = 'unknown'] = await sendAll([{ exchange, key, content, properties }]);
    return outcome;
  };

  const wanted = new Set(Object.values(topology.consumers).flat());
  const publish = async (messages: readonly Message[]): Promise<readonly Outcome[]> => {
    const outcomes = await sendAll(
      messages.map(({ id, type, content }) => ({
        exchange: names.exchange,
        key: type,
        content: Buffer.from(content),
        properties: { messageId: id, type, mandatory: wanted.has(type) },
      })),
    );
    if (outcomes.includes('unroutable')) publisher.drop('a queue is gone, the topology has to be declared again');
    return outcomes;
  };

  const links = new Set([publisher]);
  return {
    publish,
    async subscribe(subscription) {
      const { link, finish } = await openConsumer(options, names, send, subscription);
      links.add(link);
      return async () => {
        await finish();
        links.delete(link);
        await link.close();
      };
    },
    async depth(consumer) {
      // On a channel of its own: RabbitMQ closes the channel on which a queue is missing.
      const channel = await publisher.model().createChannel();
      channel.on('error', () => {});
      try {
        const messagesIn = async (queue: string) => (await channel.checkQueue(queue)).messageCount;
        const delayed = await Promise.all(delays.map((delay) => messagesIn(names.retry(consumer, delay))));
        return {
          waiting: await messagesIn(names.queue(consumer)),
          delayed: delayed.reduce((sum, messages) => sum + messages, 0),
          dead: await messagesIn(names.dead(consumer)),
        };
      } finally {
        await channel.close().catch(() => {});
      }
    },
    ...deadLettersOf(names, publisher, send),
    async ping() {
      for (const link of links) link.channel();
      const blocked = publisher.blocked();
      if (blocked !== undefined) throw new BrokerUnavailableError(`RabbitMQ is blocked: ${blocked}`);
    },
    async close() {
      await Promise.all([...links].map((link) => link.close()));
    },
  };
}
