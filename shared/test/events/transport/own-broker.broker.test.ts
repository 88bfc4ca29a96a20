// Tests that need a separate RabbitMQ: users with few permissions, and a resource alarm.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'amqplib';
import {
  type BrokerUser,
  brokerDefinitions,
  brokerUsers,
  connectTransport,
  shopTopology,
  type Transport,
} from '../../../src/events/index.ts';
import { newId } from '../../../src/runtime/index.ts';
import { serviceNames } from '../../../src/shop/index.ts';
import { type BrokerServer, eventually, importDefinitions, startBrokerServer } from '../../../src/testing/index.ts';
import { log, record } from '../brokers.ts';

const passwords = Object.fromEntries(brokerUsers.map((user) => [user, `${user}-password`])) as Record<
  BrokerUser,
  string
>;

let server: BrokerServer;

function message(type: string) {
  const id = newId();
  return { id, type, content: JSON.stringify({ id, type }) };
}

beforeAll(async () => {
  server = await startBrokerServer({ own: true });
});

afterAll(() => server.stop());

describe('users with rights of their own', () => {
  const transports = new Map<BrokerUser, Transport>();
  const as = (user: BrokerUser): Transport => {
    const transport = transports.get(user);
    if (transport === undefined) throw new Error(`${user} is not connected`);
    return transport;
  };

  const define = (): Promise<void> =>
    importDefinitions(server, brokerDefinitions({ vhost: '/', namespace: 'own', passwords }));

  beforeAll(async () => {
    await define();
    for (const user of brokerUsers) {
      const url = new URL(server.url);
      url.username = user;
      url.password = passwords[user];
      url.search = '?namespace=own&declare=own';
      transports.set(user, await connectTransport({ url: url.href, name: user, topology: shopTopology, log }));
    }
  });

  afterAll(async () => {
    await Promise.all([...transports.values()].map((transport) => transport.close()));
  });

  it('a broker with separate users permits services to publish and consume their events, and the operator to replay dead letters', async () => {
    let good = false;
    const inventory = await record(as('catalogue'), 'catalogue.inventory', () =>
      good ? { kind: 'done' } : { kind: 'dead', reason: 'no such product' },
    );
    const mail = await record(as('notifications'), 'notifications.mail');
    const effects = await record(as('orders'), 'orders.effects');
    expect(await as('orders').publish([message('order.cancelled.v1')])).toEqual(['confirmed']);
    expect(await as('catalogue').publish([message('stock.released.v1')])).toEqual(['confirmed']);
    expect(await as('accounts').publish([message('account.registered.v1')])).toEqual(['confirmed']);
    await eventually(() => {
      expect(inventory.deliveries).toHaveLength(1);
      expect(mail.deliveries).toHaveLength(2);
      expect(effects.deliveries).toHaveLength(2);
    });
    const [letter] = await eventually(async () => {
      const letters = await as('operator').deadLetters('catalogue.inventory', 10);
      expect(letters).toHaveLength(1);
      return letters;
    });
    expect(letter?.reason).toBe('no such product');
    good = true;
    expect(await as('operator').replay('catalogue.inventory', letter?.id ?? '')).toBe(true);
    await eventually(() => expect(inventory.deliveries).toHaveLength(2));
    await Promise.all([inventory.stop(), mail.stop(), effects.stop()]);
  });

  it('a broker with separate users rejects the events of another service', async () => {
    const [outcome] = await as('accounts').publish([message('order.shipped.v1')]);
    expect(outcome).toBe('unknown');
    await eventually(async () =>
      expect(await as('accounts').publish([message('account.updated.v1')])).toEqual(['confirmed']),
    );
    await expect(record(as('accounts'), 'orders.effects')).rejects.toThrow(/ACCESS.REFUSED/);
  });

  it('a broker with separate users permits a service to declare its deleted queue again', async () => {
    const inventory = await record(as('catalogue'), 'catalogue.inventory');
    await server.control('delete_queue', 'own.catalogue.inventory');
    // Events that are published before the queue is declared again do not reach it.
    await eventually(async () => {
      await as('orders').publish([message('order.shipped.v1')]);
      expect(inventory.deliveries).not.toEqual([]);
    }, 10_000);
    await inventory.stop();
  });

  it.each(serviceNames)(
    'a broker with separate users permits a process of 1.1.0 of %s to declare and use its queue for republication requests',
    async (user) => {
      const url = new URL(server.url);
      url.username = user;
      url.password = passwords[user];
      url.search = '';
      const connection = await connect(url.href);
      const channel = await connection.createConfirmChannel();
      const queue = `own.${user}.repeat`;
      await channel.assertQueue(queue, {
        durable: true,
        arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 20 },
      });
      await channel.bindQueue(queue, 'own.lost', '');
      const requests: string[] = [];
      await channel.consume(queue, (request) => void (request && requests.push(request.content.toString())));
      channel.publish('own.lost', '', Buffer.from('["notifications.mail"]'), { persistent: true });
      await channel.waitForConfirms();
      await eventually(() => expect(requests).toEqual(['["notifications.mail"]']));
      await connection.close();
    },
  );
});

describe('a broker with an alarm', () => {
  it('while the broker has an alarm, no messages are accepted or stored in memory, deliveries continue, and it recovers by itself', async () => {
    const topology = { consumers: { taker: ['order.shipped.v1'] }, retries: 1, retryDelay: 1 };
    const transport = await connectTransport({ url: `${server.url}?namespace=alarm`, name: 'test', topology, log });
    const taker = await record(transport, 'taker');
    const [before, after] = [message('order.shipped.v1'), message('order.shipped.v1')];
    await transport.publish([before]);
    await server.control('set_vm_memory_high_watermark', '0.00001');
    const memory = process.memoryUsage().rss;
    const large = 'x'.repeat(100_000);
    // The broker reports that it blocks only when a message is published.
    expect(await transport.publish([{ ...message('order.shipped.v1'), content: large }])).toEqual(['unknown']);
    await expect(transport.ping()).rejects.toThrow(/RabbitMQ is blocked: /);
    for (let n = 0; n < 500; n += 1) {
      const batch = Array.from({ length: 20 }, () => ({ ...message('order.shipped.v1'), content: large + n }));
      await expect(transport.publish(batch)).rejects.toThrow(/RabbitMQ is blocked: /);
    }
    expect(process.memoryUsage().rss - memory).toBeLessThan(300 * 1024 * 1024);
    await server.control('set_vm_memory_high_watermark', '0.6');
    await eventually(async () => expect(await transport.publish([after])).toEqual(['confirmed']), 15_000);
    await eventually(() => {
      const contents = taker.deliveries.map(({ content }) => content);
      expect(contents).toContain(before.content);
      expect(contents).toContain(after.content);
    });
    await taker.stop();
    await transport.close();
  });
});
