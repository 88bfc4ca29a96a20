// Listeners on RabbitMQ with its management interface.
import { expect, it } from '@jest/globals';
import { type ConfirmChannel, connect } from 'amqplib';
import { connectTransport } from '../../src/events/connect-transport.ts';
import { openListeners, shopTopology } from '../../src/events/index.ts';
import type { AddedListener } from '../../src/events/listeners.ts';
import { log } from './brokers.ts';
import { listenersSuite } from './listeners-suite.ts';
import { startManagedBroker } from './managed-broker.ts';

listenersSuite(async () => {
  const node = await startManagedBroker();
  // The virtual host of the shop, and its user with the rights of an operator.
  await node.control('add_vhost', 'bazaar');
  await node.control('set_permissions', '--vhost', 'bazaar', 'guest', '.*', '.*', '.*');
  const url = `${node.url}/bazaar`;
  const transport = await connectTransport({ url, name: 'test', topology: shopTopology, log });
  const adminUrl = node.managementUrl;
  adminOfTests = { url, adminUrl };
  return {
    ...{ url, adminUrl, transport },
    consume: (listener) =>
      withChannel(listener.url, async (channel) => {
        const events: { id: string; type: string }[] = [];
        for (let message = await channel.get(listener.queue); message !== false; ) {
          events.push(JSON.parse(message.content.toString()));
          channel.ack(message);
          message = await channel.get(listener.queue);
        }
        return events;
      }),
    permitted: permittedOf,
    async close() {
      await transport.close();
      await node.stop();
    },
  };
});

let adminOfTests = { url: '', adminUrl: '' };

async function withChannel<T>(url: string, use: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
  const connection = await connect(url);
  connection.on('error', () => {});
  try {
    const channel = await connection.createConfirmChannel();
    const refused = new Promise<never>((_resolve, reject) => channel.on('error', reject));
    refused.catch(() => {});
    return await Promise.race([use(channel), refused]);
  } finally {
    await connection.close();
  }
}

async function permittedOf(one: AddedListener, other: AddedListener): Promise<string[]> {
  const publish = async (channel: ConfirmChannel, exchange: string, key: string): Promise<void> => {
    channel.publish(exchange, key, Buffer.from('{}'));
    await channel.waitForConfirms();
  };
  const attempts: Readonly<Record<string, (channel: ConfirmChannel) => Promise<unknown>>> = {
    'read the queue of another listener': (channel) => channel.get(other.queue),
    'read the queue of a service': (channel) => channel.get('shop.orders.effects'),
    'empty the queue of another listener': (channel) => channel.purgeQueue(other.queue),
    'delete its queue': (channel) => channel.deleteQueue(one.queue),
    'delete the queue of a service': (channel) => channel.deleteQueue('shop.orders.effects'),
    'declare a queue': (channel) => channel.assertQueue('mine'),
    'declare a queue that the broker names': (channel) => channel.assertQueue(''),
    'declare an exchange': (channel) => channel.assertExchange('mine', 'fanout'),
    'bind its queue to further events': (channel) => channel.bindQueue(one.queue, 'shop.events', 'account.*.v1'),
    'unbind its queue': (channel) => channel.unbindQueue(one.queue, 'shop.events', 'order.created.v1'),
    'publish an event': (channel) => publish(channel, 'shop.events', 'order.created.v1'),
    'write into its queue': (channel) => publish(channel, '', one.queue),
    'write into the queue of a service': (channel) =>
      publish(channel, 'shop.orders.effects.desk', 'shop.orders.effects'),
  };
  const permitted: string[] = [];
  for (const [name, attempt] of Object.entries(attempts)) {
    await withChannel(one.url, attempt).then(
      () => permitted.push(name),
      (error: { code?: number }) => {
        if (error.code !== 403) permitted.push(`${name}: ${error.code}`);
      },
    );
  }
  return permitted;
}

it('a listener cannot log in at another virtual host, and a management user without the tag is refused', async () => {
  const { url, adminUrl } = adminOfTests;
  const listeners = await openListeners({ url, adminUrl });
  const added = await listeners.add('lonely', ['order.created.v1']);
  await expect(connect(Object.assign(new URL(added.url), { pathname: '/%2f' }).href)).rejects.toThrow(
    'ConnectionClose',
  );
  const own = Object.assign(new URL(adminUrl), { username: added.user, password: added.password }).href;
  await expect((await openListeners({ url, adminUrl: own })).list()).rejects.toThrow(
    'RabbitMQ refuses the user shop.listener.lonely of EVENTS_ADMIN_URL: it must have the tag administrator',
  );
  const nobody = Object.assign(new URL(adminUrl), { port: '9' }).href;
  await expect((await openListeners({ url, adminUrl: nobody })).list()).rejects.toThrow(
    /^the management interface of RabbitMQ at 127\.0\.0\.1:9 does not respond: /,
  );
});
