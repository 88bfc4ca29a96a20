// RabbitMQ's definitions file for one shop: exchanges, queues, and one user for each service with access to its own
// part only.
import { createHash, randomBytes } from 'node:crypto';
import { readLogins, type ServiceName, serviceNames } from '../../shop/index.ts';
import { consumers } from '../consumers.ts';
import { toFamily } from '../event.ts';
import { senders } from '../generated.ts';
import { shopTopology } from '../retry-policy.ts';
import { toDeclarations, toNames } from './topology.ts';

interface Role {
  /** The first parts of the types that the service sends, such as `order`. */
  readonly sends: readonly string[];
  /** The consumer of the service, if it has one, and the first parts of the types that it handles. */
  readonly takes: string | undefined;
  readonly handles: readonly string[];
}

/** The users: one for each service. */
const brokerRoles: readonly [string, Role][] = serviceNames.map((service) => {
  const [takes, handles = []] = Object.entries(consumers).find(([name]) => name.startsWith(`${service}.`)) ?? [];
  return [service, { sends: unique(senders[service].map(domainOf)), takes, handles: unique(handles.map(toFamily)) }];
});

export type BrokerUser = ServiceName | 'operator';

/** All users: those of the services, and the operator. */
export const brokerUsers: readonly BrokerUser[] = [...serviceNames, 'operator'];

export interface BrokerDefinitions {
  /** The virtual host. */
  readonly vhost: string;
  /** The prefix of all names: `namespace` in EVENTS_URL. */
  readonly namespace: string;
  /**
   * The password of each user, or its logins as `readLogins` reads them. Each login is a user with the same
   * permissions.
   */
  readonly passwords: Readonly<Record<BrokerUser, string>>;
}

/**
 * Returns the content of a definitions file for `load_definitions` and `rabbitmqctl import_definitions`. The services'
 * EVENTS_URL needs `declare=own` with these users. `operator` may only read dead letters and put messages into the
 * queue of a consumer.
 */
export function brokerDefinitions({ vhost, namespace, passwords }: BrokerDefinitions): object {
  const names = toNames(namespace);
  const declared = Object.keys(consumers).map((consumer) => toDeclarations(names, shopTopology, consumer));
  const bare = { vhost, durable: true, auto_delete: false };
  const logins = brokerUsers.flatMap((user) => readLogins(user, passwords[user]).map((login) => ({ user, ...login })));
  /** Returns the rights of a user for each of its logins. */
  const each = <T extends object>(user: string, rights: T) =>
    logins.filter((login) => login.user === user).map(({ name }) => ({ user: name, vhost, ...rights }));
  const exchange = (name: string, type: string) => ({ name, type, ...bare, internal: false, arguments: {} });
  return {
    vhosts: [{ name: vhost }],
    users: logins.map(({ name, password }) => ({
      name,
      password_hash: passwordHash(password),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: [],
    })),
    permissions: [
      ...brokerRoles.flatMap(([user, { takes }]) => each(user, permissionsOf(namespace, user, takes))),
      ...each('operator', {
        configure: '^$',
        write: pattern(`${escaped(namespace)}\\..*\\.desk`),
        read: pattern(`${escaped(namespace)}\\..*\\.dead`),
      }),
    ],
    topic_permissions: brokerRoles.flatMap(([user, { sends, handles }]) =>
      each(user, {
        exchange: names.exchange,
        write: sends.length === 0 ? '^$' : `^(${sends.map(escaped).join('|')})\\.`,
        read: handles.length === 0 ? '^$' : pattern(`(${handles.map(escaped).join('|')})\\.\\*`),
      }),
    ),
    exchanges: [
      exchange(names.exchange, 'topic'),
      exchange(lostExchange(namespace), 'fanout'),
      ...declared.map(({ direct }) => exchange(direct, 'direct')),
    ],
    queues: declared.flatMap(({ queues }) => queues).map((queue) => ({ ...queue, ...bare })),
    bindings: declared
      .flatMap(({ bindings }) => bindings)
      .map((binding) => ({
        source: binding.exchange,
        vhost,
        destination: binding.queue,
        destination_type: 'queue',
        routing_key: binding.key,
        arguments: {},
      })),
  };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}

function domainOf(type: string): string {
  return type.replace(/\..*/, '');
}

/**
 * Returns the exchange of reports of lost queues, and the queue in which a service receives them. Only processes of
 * 1.1.0 use them: they run with these definitions during an update, and after a return to their release.
 */
const lostExchange = (namespace: string): string => `${namespace}.lost`;
const repeatQueue = (namespace: string, user: string): string => `${namespace}.${user}.repeat`;

/**
 * Returns the permissions of a service. It may configure its own queues. It may write to them and to the exchange of
 * events. It may read from its queues, and from this exchange in order to bind its queues.
 */
function permissionsOf(namespace: string, user: string, takes: string | undefined) {
  const names = toNames(namespace);
  const lost = escaped(lostExchange(namespace));
  const queues = takes === undefined ? [] : [`${escaped(names.queue(takes))}(\\..*)?`];
  const mine = [escaped(repeatQueue(namespace, user)), ...queues];
  const bound = takes === undefined ? [lost] : [lost, escaped(names.exchange)];
  return {
    configure: anyOf(mine),
    write: anyOf([...mine, escaped(names.exchange), lost]),
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

/**
 * Hashes a password as RabbitMQ's salted SHA-256: base64 of a 4-byte salt and the digest of salt and password. This is
 * enough because the passwords are long and random.
 */
function passwordHash(password: string): string {
  const salt = randomBytes(4);
  const digest = createHash('sha256').update(salt).update(password, 'utf8').digest();
  return Buffer.concat([salt, digest]).toString('base64');
}
