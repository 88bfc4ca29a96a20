// The connection that publishes. It also declares the topology.
import type { ConfirmChannel, Options } from 'amqplib';
import { BrokerUnavailableError, type Message, type Outcome } from '../transport.ts';
import { type Connection, openConnection } from './connection.ts';
import type { RabbitmqOptions } from './options.ts';
import { declareConsumer, declareExchange, type Names } from './topology.ts';

interface Outgoing {
  readonly exchange: string;
  readonly key: string;
  readonly content: Buffer;
  readonly properties: Options.Publish;
}

const confirmWithin = 5_000;

/** @throws StartError when the broker rejects credentials, the vhost or the topology */
export async function openPublisher(options: RabbitmqOptions, names: Names): Promise<Publisher> {
  const { topology, declares } = options;
  /** The correlation ids of messages that the broker returned as unroutable. */
  const returned = new Set<string>();
  const connection = await openConnection<ConfirmChannel>({
    ...options,
    name: `${options.name} publisher`,
    async setUp(model) {
      const channel = await model.createConfirmChannel();
      channel.on('error', () => {});
      if (declares === 'own') await channel.checkExchange(names.exchange);
      else {
        await declareExchange(channel, names);
        for (const consumer of Object.keys(topology.consumers))
          await declareConsumer(channel, names, topology, consumer);
      }
      returned.clear();
      channel.on('return', (message) => returned.add(String(message.properties.correlationId)));
      return channel;
    },
  });
  return new Publisher(connection, names, returned, new Set(Object.values(topology.consumers).flat()));
}

export class Publisher {
  readonly connection: Connection<ConfirmChannel>;
  readonly #names: Names;
  readonly #returned: Set<string>;
  /** The event types that a consumer handles. */
  readonly #handled: ReadonlySet<string>;
  #serial = 0;

  constructor(
    connection: Connection<ConfirmChannel>,
    names: Names,
    returned: Set<string>,
    handled: ReadonlySet<string>,
  ) {
    this.connection = connection;
    this.#names = names;
    this.#returned = returned;
    this.#handled = handled;
  }

  async publish(messages: readonly Message[]): Promise<readonly Outcome[]> {
    const outcomes = await this.#sendAll(
      messages.map(({ id, type, content }) => ({
        exchange: this.#names.exchange,
        key: type,
        content: Buffer.from(content),
        properties: { messageId: id, type, mandatory: this.#handled.has(type) },
      })),
    );
    if (outcomes.includes('unroutable'))
      this.connection.drop('a queue does not exist, the topology has to be declared again');
    return outcomes;
  }

  /**
   * Sends one message to the queue of a consumer. @throws BrokerUnavailableError when the broker does not confirm it
   */
  async sendTo(consumer: string, content: Buffer, properties: Options.Publish): Promise<void> {
    const [direct, queue] = [this.#names.direct(consumer), this.#names.queue(consumer)];
    const outcome = await this.send(direct, queue, content, { ...properties, mandatory: true });
    if (outcome !== 'confirmed')
      throw new BrokerUnavailableError(`the queue of ${consumer} did not accept the message`);
  }

  /** Sends one message and waits for its confirm. @throws BrokerUnavailableError */
  async send(exchange: string, key: string, content: Buffer, properties: Options.Publish): Promise<Outcome> {
    const [outcome = 'unknown'] = await this.#sendAll([{ exchange, key, content, properties }]);
    return outcome;
  }

  /** @throws BrokerUnavailableError while the broker accepts no messages */
  requireUnblocked(): void {
    const blocked = this.connection.blocked();
    if (blocked !== undefined) throw new BrokerUnavailableError(`RabbitMQ is blocked: ${blocked}`);
  }

  /** Sends messages and waits for their confirms. The broker returns an unroutable message before it confirms it. */
  #sendAll(messages: readonly Outgoing[]): Promise<readonly Outcome[]> {
    this.requireUnblocked();
    const channel = this.connection.channel();
    if (messages.length === 0) return Promise.resolve([]);
    const outcomes: Outcome[] = messages.map(() => 'unknown');
    return new Promise((resolve, reject) => {
      let unconfirmed = messages.length;
      const timer = setTimeout(() => {
        resolve([...outcomes]);
        // A blocked broker reports when it accepts messages again, so its connection stays open. Any other connection
        // is replaced, which frees unsent messages.
        if (this.connection.blocked() === undefined)
          this.connection.drop(`no confirm within ${confirmWithin / 1000} s`);
      }, confirmWithin);
      const confirmed = (index: number, outcome: Outcome): void => {
        outcomes[index] = outcome;
        unconfirmed -= 1;
        if (unconfirmed > 0) return;
        clearTimeout(timer);
        resolve(outcomes);
      };
      try {
        messages.forEach((message, index) => {
          this.#send(channel, message, (outcome) => confirmed(index, outcome));
        });
      } catch (error) {
        clearTimeout(timer); // the channel closed a moment ago
        reject(new BrokerUnavailableError('RabbitMQ is unavailable', { cause: error }));
      }
    });
  }

  #send(
    channel: ConfirmChannel,
    { exchange, key, content, properties }: Outgoing,
    done: (outcome: Outcome) => void,
  ): void {
    this.#serial += 1;
    const correlationId = String(this.#serial);
    const all = { contentType: 'application/cloudevents+json', persistent: true, ...properties, correlationId };
    channel.publish(exchange, key, content, all, (error) => {
      const returned = this.#returned.delete(correlationId);
      if (error) done('unknown');
      else done(returned ? 'unroutable' : 'confirmed');
    });
  }
}
