// The commands of the guide for consumers of one's own, on a real RabbitMQ with the definitions of a deployment.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type BrokerUser, brokerDefinitions, brokerUsers, openListeners } from '@shop/shared/events';
import { eventually, importDefinitions } from '@shop/shared/testing';
import { connect } from 'amqplib';
import { type ManagedBroker, startManagedBroker } from '../../shared/test/events/managed-broker.ts';

const guide = readFileSync(fileURLToPath(new URL('../../docs/deploying/event-consumers.md', import.meta.url)), 'utf8');
/** The parameters of each `rabbitmqctl` in the section. */
const commands = [...guide.matchAll(/^docker compose exec rabbitmq rabbitmqctl (.*)$/gm)].map(([, line = '']) =>
  [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word),
);
const passwords = Object.fromEntries(brokerUsers.map((user) => [user, 'only-for-tests'])) as Record<BrokerUser, string>;

let server: ManagedBroker;
beforeAll(async () => {
  server = await startManagedBroker();
  await importDefinitions(server, brokerDefinitions({ vhost: 'shop', namespace: 'shop', passwords }));
  expect(commands.map(([command]) => command)).toEqual(['add_user', 'set_user_tags', 'set_permissions']);
  for (const parameters of commands) await server.control(...parameters);
});
afterAll(() => server?.stop());

/** Returns an address of the broker, or of its management interface, with another user. */
const urlAs = (url: string, username: string, password: string, pathname = '/'): string =>
  Object.assign(new URL(url), { username, password, pathname }).href;

it('the administrator of the guide lets the command line add a listener, which gets what a service publishes', async () => {
  const url = `${urlAs(server.url, 'operator', passwords.operator, '/shop')}?declare=own`;
  const listeners = await openListeners({ url, adminUrl: urlAs(server.managementUrl, 'admin', 'PASSWORD') });
  const adapter = await listeners.add('adapter', ['order.paid.v1']);
  expect(adapter.queue).toBe('shop.listener.adapter');
  const [own, orders] = [
    await connect(adapter.url),
    await connect(urlAs(server.url, 'orders', passwords.orders, '/shop')),
  ];
  try {
    const received: string[] = [];
    const channel = await own.createChannel();
    await channel.consume(adapter.queue, (message) => {
      if (message === null) return;
      received.push(message.fields.routingKey);
      channel.ack(message);
    });
    const sender = await orders.createConfirmChannel();
    for (const type of ['order.cancelled.v1', 'order.paid.v1']) {
      sender.publish('shop.events', type, Buffer.from('{}'), { persistent: true });
    }
    await sender.waitForConfirms();
    await eventually(() => expect(received).toEqual(['order.paid.v1']));
  } finally {
    await Promise.all([own.close(), orders.close()]);
  }
});
