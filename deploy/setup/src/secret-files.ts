// Defines the secrets of the shop and the files that contain them. Every owner gets its own files and no others.
import { randomBytes } from 'node:crypto';
import { type SchemaName, schemas } from '@shop/shared/database';
import { type BrokerUser, brokerDefinitions, brokerUsers } from '@shop/shared/events';
import { type Login, readLogins, type ServiceName, serviceNames } from '@shop/shared/shop';

const keys = ['administrator', 'internal', 'cursors', 'keyEncryption', 'webhooks'] as const;

/**
 * The secrets from which the files are derived: 32 random bytes each, in base64url. While one is replaced, it is a list
 * of values, separated by commas (rotate.ts).
 */
export interface Secrets {
  readonly keys: Readonly<Record<(typeof keys)[number], string>>;
  /** The passwords of the database roles, or their logins as `readLogins` reads them. */
  readonly roles: Readonly<Record<SchemaName, string>>;
  /** The passwords of the broker's users, or their logins. */
  readonly users: Readonly<Record<BrokerUser, string>>;
}

/** The addresses at which the services find the servers. */
export interface Places {
  /** Host and port. */
  readonly database: string;
  /** Host and port of the database's replicas, if there are any. */
  readonly databaseReplicas?: string | undefined;
  /** Host and port. */
  readonly broker: string;
  /**
   * How the operator's commands connect to the database: as the administrator, or as each service's role, for an
   * administrator that may not act as these roles.
   */
  readonly operator: 'administrator' | 'services';
}

/** Owner → file → content. */
export type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Generates the secrets that `kept` lacks. */
export function completeSecrets(kept: Partial<Secrets> = {}): Secrets {
  const make = <Name extends string>(names: readonly Name[], values: Partial<Record<Name, string>> = {}) =>
    Object.fromEntries(names.map((name) => [name, values[name] ?? newSecret()])) as Record<Name, string>;
  return { keys: make(keys, kept.keys), roles: make(schemas, kept.roles), users: make(brokerUsers, kept.users) };
}

/**
 * Returns the names of the secrets that `kept` lacks, such as `roles.orders`, and of those that only another version of
 * the shop knows.
 */
export function differingSecrets(kept: Partial<Secrets>): { missing: string[]; unknown: string[] } {
  const expected = namesIn(completeSecrets());
  const present = namesIn({ keys: kept.keys, roles: kept.roles, users: kept.users });
  return {
    missing: expected.filter((name) => !present.includes(name)),
    unknown: present.filter((name) => !expected.includes(name)),
  };
}

function namesIn(groups: { readonly [Group in keyof Secrets]: object | undefined }): string[] {
  return Object.entries(groups).flatMap(([group, values = {}]) =>
    Object.keys(values).map((name) => `${group}.${name}`),
  );
}

/** Returns 32 random bytes in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

const vhost = 'shop';

export function secretFiles(secrets: Secrets, places: Places): SecretFiles {
  const databaseUrl = ({ name, password }: Login, place = places.database, database = 'shop'): string =>
    `postgres://${name}:${encodeURIComponent(password)}@${place}/${database}`;
  const administrator = { name: 'postgres', password: secrets.keys.administrator };
  const loginOf = (role: SchemaName): Login => readLogins(role, secrets.roles[role])[0];
  const { databaseReplicas: replicas } = places;
  const readUrl = replicas && databaseUrl(loginOf('catalogue'), replicas);
  const eventsUrl = (user: BrokerUser): string => {
    const [{ name, password }] = readLogins(user, secrets.users[user]);
    return `amqp://${name}:${encodeURIComponent(password)}@${places.broker}/${vhost}?declare=own`;
  };
  const internal = { 'internal-secret': secrets.keys.internal };
  const cursors = { 'cursor-keys': secrets.keys.cursors };
  const keyEncryption = { 'key-encryption-secret': secrets.keys.keyEncryption };
  /**
   * The further files of each service that needs more than its connections and the secret of calls between services.
   */
  const others: Partial<Record<ServiceName, Readonly<Record<string, string>>>> = {
    accounts: { ...internal, ...cursors, ...keyEncryption },
    orders: { ...internal, ...cursors },
    changes: { ...internal, ...cursors, 'webhook-keys': secrets.keys.webhooks },
    catalogue: { ...internal, ...cursors, ...(readUrl && { 'database-read-url': readUrl }) },
  };
  const connections = serviceNames.map((name) => [name, databaseUrl(loginOf(name))] as const);
  const services = connections.map(([name, url]) => [
    name,
    { 'database-url': url, 'events-url': eventsUrl(name), ...(others[name] ?? internal) },
  ]);
  const operatorDatabases =
    places.operator === 'services'
      ? Object.fromEntries(connections.map(([name, url]) => [`${name}-database-url`, url]))
      : { 'database-url': databaseUrl(administrator) };
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
      'database-admin-url': databaseUrl(administrator, places.database, 'postgres'),
      ...Object.fromEntries(schemas.map((role) => [`${role}-password`, secrets.roles[role]])),
    },
    ...Object.fromEntries(services),
    // The operator's commands read all schemas, each as the role that owns it, decrypt the signing keys, and send
    // e-mails with tokens.
    operator: { ...operatorDatabases, 'events-url': eventsUrl('operator'), ...internal, ...keyEncryption },
  };
}
