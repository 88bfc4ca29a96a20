// Which secrets the shop has, and which file of which owner holds what. Every owner is given its own files and no
// other's.
import { randomBytes } from 'node:crypto';
import { type SchemaName, schemas } from '@shop/shared/database';
import { type BrokerUser, brokerDefinitions, brokerUsers } from '@shop/shared/events';
import { serviceNames } from '@shop/shared/runtime';

const keys = ['administrator', 'internal', 'cursors', 'keyEncryption'] as const;

/** What everything else follows from: 32 random bytes each, in base64url. */
export interface Secrets {
  readonly keys: Readonly<Record<(typeof keys)[number], string>>;
  /** Of the database's roles. */
  readonly roles: Readonly<Record<SchemaName, string>>;
  /** Of the broker's users. */
  readonly users: Readonly<Record<BrokerUser, string>>;
}

/** Where the services find the servers. */
export interface Places {
  /** Host and port. */
  readonly database: string;
  /** Host and port of its replicas, where there are any. */
  readonly databaseReplicas?: string | undefined;
  /** Host and port. */
  readonly broker: string;
}

/** Owner → file → content. */
export type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Makes the secrets that `kept` lacks. */
export function completeSecrets(kept: Partial<Secrets> = {}): Secrets {
  const make = <Name extends string>(names: readonly Name[], values: Partial<Record<Name, string>> = {}) =>
    Object.fromEntries(names.map((name) => [name, values[name] ?? randomBytes(32).toString('base64url')])) as Record<
      Name,
      string
    >;
  return { keys: make(keys, kept.keys), roles: make(schemas, kept.roles), users: make(brokerUsers, kept.users) };
}

const database = 'shop';
const vhost = 'shop';

export function secretFiles(secrets: Secrets, places: Places): SecretFiles {
  const databaseUrl = (role: string, password: string, name = database): string =>
    `postgres://${role}:${password}@${places.database}/${name}`;
  const { databaseReplicas: replicas } = places;
  const readUrl = replicas && `postgres://catalogue:${secrets.roles.catalogue}@${replicas}/${database}`;
  const eventsUrl = (user: BrokerUser): string =>
    `amqp://${user}:${secrets.users[user]}@${places.broker}/${vhost}?declare=own`;
  const own = Object.fromEntries(
    serviceNames.map((name) => [
      name,
      { 'database-url': databaseUrl(name, secrets.roles[name]), 'events-url': eventsUrl(name) },
    ]),
  );
  const internal = { 'internal-secret': secrets.keys.internal };
  const cursors = { 'cursor-keys': secrets.keys.cursors };
  return {
    postgres: { password: secrets.keys.administrator },
    rabbitmq: {
      'definitions.json': JSON.stringify(
        brokerDefinitions({ vhost, namespace: 'shop', passwords: secrets.users }),
        null,
        2,
      ),
    },
    provision: {
      'admin-url': databaseUrl('postgres', secrets.keys.administrator, 'postgres'),
      ...Object.fromEntries(schemas.map((role) => [`${role}-password`, secrets.roles[role]])),
    },
    accounts: { ...own.accounts, ...internal, 'key-encryption-secret': secrets.keys.keyEncryption },
    orders: { ...own.orders, ...internal, ...cursors },
    catalogue: { ...own.catalogue, ...internal, ...cursors, ...(readUrl && { 'database-read-url': readUrl }) },
    notifications: { ...own.notifications },
    // Commands look into all schemas, each as the role that owns it, and into the signing keys.
    operator: {
      'database-url': databaseUrl('postgres', secrets.keys.administrator),
      'events-url': eventsUrl('operator'),
      'key-encryption-secret': secrets.keys.keyEncryption,
    },
  };
}
