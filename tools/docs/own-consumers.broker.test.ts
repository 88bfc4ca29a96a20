// The commands of the guide that permit a consumer of one's own, on a real RabbitMQ.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type BrokerUser, brokerDefinitions, brokerUsers } from '@shop/shared/events';
import { type BrokerServer, eventually, importDefinitions, startBrokerServer } from '@shop/shared/testing';
import { type Channel, type ChannelModel, connect } from 'amqplib';

const guide = readFileSync(fileURLToPath(new URL('../../docs/deploying/event-consumers.md', import.meta.url)), 'utf8');
/** The parameters of each `rabbitmqctl` in the section. */
const commands = [...guide.matchAll(/^docker compose exec rabbitmq rabbitmqctl (.*)$/gm)].map(([, line = '']) =>
  [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word),
);
const passwords = Object.fromEntries(brokerUsers.map((user) => [user, 'only-for-tests'])) as Record<BrokerUser, string>;

let server: BrokerServer;
const connections: ChannelModel[] = [];

async function connectAs(user: string, password: string): Promise<ChannelModel> {
  const url = new URL(server.url);
  Object.assign(url, { username: user, password, pathname: '/shop', search: '' });
  const connection = await connect(url.href);
  connection.on('error', () => {});
  connections.push(connection);
  return connection;
}

/** Returns what the broker says when it closes the channel of a refused operation. */
async function refusalOf(connection: ChannelModel, use: (channel: Channel) => Promise<unknown>): Promise<string> {
  const channel = await connection.createChannel();
  const failed = once(channel, 'error').then(([error]) => String(error));
  await use(channel).catch(() => {});
  return failed;
}

beforeAll(async () => {
  server = await startBrokerServer({ own: true });
  await importDefinitions(server, brokerDefinitions({ vhost: 'shop', namespace: 'shop', passwords }));
  expect(commands.map(([command]) => command)).toEqual(['add_user', 'set_permissions', 'set_topic_permissions']);
  for (const parameters of commands) await server.control(...parameters);
});

afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close().catch(() => {})));
  await server.stop();
});

it('the command gives the user a queue with the events that it was permitted, and nothing else', async () => {
  const [adapter, orders] = [await connectAs('adapter', 'PASSWORD'), await connectAs('orders', passwords.orders)];
  const channel = await adapter.createChannel();
  const options = { durable: true, arguments: { 'x-queue-type': 'quorum', 'x-max-length-bytes': 1_000_000 } };
  await channel.assertQueue('adapter.orders', options);
  await channel.bindQueue('adapter.orders', 'shop.events', 'order.*.v1');
  const received: string[] = [];
  await channel.consume('adapter.orders', (message) => {
    if (message === null) return;
    received.push(message.fields.routingKey);
    channel.ack(message);
  });
  const sender = await orders.createConfirmChannel();
  sender.publish('shop.events', 'order.cancelled.v1', Buffer.from('{}'), { persistent: true });
  await sender.waitForConfirms();
  await eventually(() => expect(received).toEqual(['order.cancelled.v1']));

  const refused = [
    (other: Channel) => other.bindQueue('adapter.orders', 'shop.events', 'account.*.v1'),
    (other: Channel) => other.bindQueue('adapter.orders', 'shop.events', '#'),
    (other: Channel) => other.assertQueue('orders.more', options),
    (other: Channel) => other.purgeQueue('shop.orders.effects'),
    async (other: Channel) => void other.publish('shop.events', 'order.cancelled.v1', Buffer.from('{}')),
  ];
  for (const use of refused) expect(await refusalOf(adapter, use)).toContain('ACCESS_REFUSED');
  expect(await server.control('list_users', '--quiet', '--no-table-headers')).toMatch(/^adapter\s/m);
});
