// RabbitMQ's definitions file for one shop: everything that exists in the broker, and a user for each service that can reach its
// own part of it and nothing else.
import { createHash, randomBytes } from 'node:crypto';
import { type ServiceName, serviceNames, services } from '../../runtime/index.ts';
import { type ConsumerName, consumerOf, consumers } from '../consumers.ts';
import { familyOf } from '../event.ts';
import { shopTopology } from '../start-events.ts';
import { declarationsOf, type Names, namesOf, repeatQueueArguments } from './topology.ts';

/** Each service has a user of its own. `operator` works on the dead letters and can do nothing else. */
export type BrokerUser = ServiceName | 'operator';

export interface BrokerDefinitions {
  /** The virtual host. */
  readonly vhost: string;
  /** Begins all names; what `namespace` in EVENTS_URL says. */
  readonly namespace: string;
  readonly passwords: Readonly<Record<BrokerUser, string>>;
}

/**
 * The content of a definitions file, as `load_definitions` and `rabbitmqctl import_definitions` take it. The services' EVENTS_URL
 * needs `declare=own` with these users.
 */
export function brokerDefinitions({ vhost, namespace, passwords }: BrokerDefinitions): object {
  const names = namesOf(namespace);
  const declared = Object.keys(consumers).map((consumer) => declarationsOf(names, shopTopology, consumer));
  const roles = serviceNames.map((user) => ({
    user,
    publishes: services[user].publishes,
    consumer: consumerOf(user)?.name,
  }));
  const bare = { vhost, durable: true, auto_delete: false };
  const exchange = (name: string, type: string) => ({ name, type, ...bare, internal: false, arguments: {} });
  return {
    vhosts: [{ name: vhost }],
    users: Object.entries(passwords).map(([name, password]) => ({
      name,
      password_hash: passwordHash(password),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: [],
    })),
    permissions: [
      ...roles.map(({ user, consumer }) => ({ user, vhost, ...permissionsOf(names, user, consumer) })),
      {
        user: 'operator',
        vhost,
        configure: '^$',
        write: pattern(`${escaped(namespace)}\\..*\\.desk`),
        read: pattern(`${escaped(namespace)}\\..*\\.dead`),
      },
    ],
    topic_permissions: roles.map(({ user, publishes, consumer }) => ({
      user,
      vhost,
      exchange: names.exchange,
      write: `^${escaped(publishes)}\\.`,
      read: consumer === undefined ? '^$' : pattern(`(${familiesOf(consumer).map(escaped).join('|')})\\.\\*`),
    })),
    exchanges: [
      exchange(names.exchange, 'topic'),
      exchange(names.lost, 'fanout'),
      ...declared.map(({ desk }) => exchange(desk, 'direct')),
    ],
    queues: [
      ...declared.flatMap(({ queues }) => queues),
      ...roles.map(({ user }) => ({ name: names.repeat(user), arguments: repeatQueueArguments })),
    ].map((queue) => ({ ...queue, ...bare })),
    bindings: [
      ...declared.flatMap(({ bindings }) => bindings),
      ...roles.map(({ user }) => ({ exchange: names.lost, queue: names.repeat(user), key: '' })),
    ].map((binding) => ({
      source: binding.exchange,
      vhost,
      destination: binding.queue,
      destination_type: 'queue',
      routing_key: binding.key,
      arguments: {},
    })),
  };
}

function familiesOf(consumer: ConsumerName): string[] {
  return [...new Set(consumers[consumer].map((type) => familyOf(type)))];
}

/**
 * Configure: its own queues. Write: them, the events' exchange and that of lost queues. Read: them, and the exchanges for binding
 * them there.
 */
function permissionsOf(names: Names, user: string, consumer: ConsumerName | undefined) {
  const queues = consumer === undefined ? [] : [`${escaped(names.queue(consumer))}(\\..*)?`];
  const mine = [escaped(names.repeat(user)), ...queues];
  const bound = consumer === undefined ? [escaped(names.lost)] : [escaped(names.lost), escaped(names.exchange)];
  return {
    configure: anyOf(mine),
    write: anyOf([...mine, escaped(names.exchange), escaped(names.lost)]),
    read: anyOf([...mine, ...bound]),
  };
}

function anyOf(patterns: readonly string[]): string {
  return pattern(`(${patterns.join('|')})`);
}

function pattern(inner: string): string {
  return `^${inner}$`;
}

function escaped(text: string): string {
  return text.replaceAll('.', '\\.');
}

/** RabbitMQ's salted SHA-256: base64 of a 4-byte salt and the digest of salt and password. The passwords are long and random. */
function passwordHash(password: string): string {
  const salt = randomBytes(4);
  const digest = createHash('sha256').update(salt).update(password, 'utf8').digest();
  return Buffer.concat([salt, digest]).toString('base64');
}
