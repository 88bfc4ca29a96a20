// Faults of RabbitMQ: it refuses, disappears, hangs, and returns a message.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'amqplib';
import { connectTransport } from '../../../src/events/connect-transport.ts';
import { openConnection } from '../../../src/events/rabbitmq/connection.ts';
import type { Delivery, Message, Topology } from '../../../src/events/transport.ts';
import { newId } from '../../../src/runtime/index.ts';
import { eventually, testBroker } from '../../../src/testing/index.ts';
import { log, record } from '../brokers.ts';
import { startProxy } from '../tcp-proxy.ts';

const topology: Topology = { consumers: { taker: ['order.shipped.v1'] }, retries: 1, retryDelay: 1 };

function message(text = ''): Message {
  const id = newId();
  return { id, type: 'order.shipped.v1', content: JSON.stringify({ id, text }) };
}

const open = (url: string, more: Partial<Topology> = {}) =>
  connectTransport({ url, name: 'test', topology: { ...topology, ...more }, log });

describe('RabbitMQ', () => {
  let url: string;
  let queue: string;
  beforeAll(async () => {
    url = await testBroker();
    queue = `${new URL(url).searchParams.get('namespace')}.taker`;
  });

  const admin = async <T>(
    work: (channel: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createChannel']>>) => Promise<T>,
  ) => {
    const connection = await connect(url);
    const result = await work(await connection.createChannel());
    await connection.close();
    return result;
  };

  it('the transport does not start when a queue exists with other arguments, and states the remedy', async () => {
    const other = await testBroker();
    const name = `${new URL(other).searchParams.get('namespace')}.taker`;
    await admin((channel) => channel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': 'quorum' } }));
    await expect(open(other)).rejects.toThrow(/PRECONDITION.FAILED.*taker.*exists with other arguments/);
    await admin((channel) => channel.deleteQueue(name));
  });

  it('the transport does not start with a wrong password', async () => {
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(open(wrong.href)).rejects.toThrow(/RabbitMQ refuses: .*ACCESS.REFUSED/);
  });

  it('the transport starts while the broker is unavailable, and works once it is available', async () => {
    const proxy = await startProxy(url);
    await proxy.cut();
    const transport = await open(proxy.url);
    await expect(transport.ping()).rejects.toThrow(/RabbitMQ is unavailable/);
    await expect(transport.publish([message()])).rejects.toThrow(/RabbitMQ is unavailable/);
    await proxy.restore();
    await eventually(() => transport.ping(), 10_000);
    await transport.close();
    await proxy.close();
  });

  it('the transport reconnects when the connection was closed during the set-up', async () => {
    let setUps = 0;
    const connection = await openConnection({
      addresses: [url],
      name: 'test',
      log,
      async setUp(model) {
        const channel = await model.createChannel();
        setUps += 1;
        // The last reply of the set-up and the end of the connection arrive together.
        if (setUps === 1) model.emit('close', new Error('the broker stops'));
        return channel;
      },
    });
    await eventually(() => connection.channel().checkQueue(queue));
    expect(setUps).toBe(2);
    await connection.close();
  });

  it('the transport publishes and consumes again after a lost connection', async () => {
    const proxy = await startProxy(url);
    const transport = await open(proxy.url);
    const taker = await record(transport, 'taker');
    for (let round = 1; round <= 3; round += 1) {
      await proxy.cut();
      await proxy.restore();
      const sent = message();
      await eventually(async () => expect(await transport.publish([sent])).toEqual(['confirmed']), 10_000);
      await eventually(() => expect(taker.deliveries.map(({ content }) => content)).toContain(sent.content), 10_000);
    }
    await taker.stop();
    await transport.close();
    await proxy.close();
  });

  it.each(['cut', 'freeze'] as const)(
    'the transport uses another node when its own and a further one fail (%s)',
    async (fail) => {
      const nodes = [await startProxy(url), await startProxy(url), await startProxy(url)];
      const several = new URL(url);
      const hosts = nodes.map((node) => new URL(node.url).host).join(',');
      const transport = await open(url.replace(several.host, hosts));
      const taker = await record(transport, 'taker');
      for (const node of nodes) {
        await node.restore();
        for (const other of nodes) {
          if (other !== node) await other[fail]();
        }
        const sent = message();
        await eventually(async () => expect(await transport.publish([sent])).toEqual(['confirmed']), 40_000);
        await eventually(() => expect(taker.deliveries.map(({ content }) => content)).toContain(sent.content), 40_000);
      }
      await taker.stop();
      await transport.close();
      for (const node of nodes) await node.close();
    },
  );

  it('the transport disconnects from a silent broker after a timeout, and a message without a confirm counts as not delivered', async () => {
    const proxy = await startProxy(url);
    const transport = await open(proxy.url);
    proxy.freeze();
    const [outcome] = await transport.publish([message()]);
    expect(outcome).toBe('unknown');
    await eventually(() => expect(transport.publish([message()])).rejects.toThrow(/RabbitMQ is unavailable/));
    await proxy.restore();
    await eventually(async () => expect(await transport.publish([message()])).toEqual(['confirmed']), 10_000);
    await transport.close();
    await proxy.close();
    await admin((channel) => channel.purgeQueue(queue));
  });

  it('a message becomes a dead letter when its consumers always die', async () => {
    const transport = await open(url);
    const sent = message();
    await transport.publish([sent]);
    await admin(async (channel) => {
      for (let deliveries = 0; deliveries <= 20; deliveries += 1) {
        const taken = await eventually(async () => {
          const got = await channel.get(queue);
          if (got === false) throw new Error('nothing in the queue');
          return got;
        });
        channel.nack(taken, false, true);
      }
    });
    const [letter] = await eventually(async () => {
      const letters = await transport.deadLetters('taker', 10);
      expect(letters).toHaveLength(1);
      return letters;
    }, 10_000);
    expect(letter).toMatchObject({ content: sent.content, reason: 'given up by the broker: delivery_limit' });
    await transport.discard('taker', letter?.id ?? '');
    await transport.close();
  });

  it.each([
    ['retry.1s', 'failed'],
    ['dead', 'dead'],
  ] as const)(
    'the consumer continues when the queue %s of a consumer that fills its prefetch was deleted',
    async (part, kind) => {
      const transport = await open(url);
      const bad = Array.from({ length: 5 }, () => message());
      const good = message();
      const isBad = ({ content, attempt }: Delivery) => attempt === 1 && bad.some((each) => each.content === content);
      const taker = await record(transport, 'taker', (delivery) =>
        isBad(delivery) ? { kind, reason: 'as the test wants it' } : { kind: 'done' },
      );
      await admin((channel) => channel.deleteQueue(`${queue}.${part}`));
      await transport.publish([...bad, good]);
      const taken = () => taker.deliveries.filter((delivery) => !isBad(delivery)).map(({ content }) => content);
      const finallyTaken = kind === 'failed' ? [...bad, good] : [good];
      await eventually(
        () => expect(new Set(taken())).toEqual(new Set(finallyTaken.map(({ content }) => content))),
        15_000,
      );
      const letters = await eventually(async () => {
        const { waiting, delayed } = await transport.depth('taker');
        expect({ waiting, delayed }).toEqual({ waiting: 0, delayed: 0 });
        return transport.deadLetters('taker', 10);
      }, 10_000);
      expect(new Set(letters.map(({ id }) => id))).toEqual(new Set(kind === 'dead' ? bad.map(({ id }) => id) : []));
      await taker.stop();
      for (const { id } of letters) await transport.discard('taker', id);
      await transport.close();
    },
  );
});
