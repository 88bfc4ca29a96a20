// The environment variables that `npm start` and the command line read themselves. All others are passed on to the
// processes.
import { join } from 'node:path';
import { eventsUrl } from '@shop/shared/events';
import { type Environment, integer, optional, readConfig, StartError, string, url } from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import { root } from './root.ts';

/** Returns the environment, completed by the checkout's `.env`. Empty variables count as not set. */
export function givenEnvironment(): NodeJS.ProcessEnv {
  try {
    process.loadEnvFile(join(root, '.env'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
}

export type Settings = ReturnType<typeof readSettings>;

/** @throws ConfigError naming every variable that is wrong */
export function readSettings(environment: Environment) {
  return readConfig(environment, {
    /** The address at which clients reach the shop. */
    gatewayHost: string('GATEWAY_HOST', '127.0.0.1'),
    gatewayPort: integer('GATEWAY_PORT', { min: 1, max: 65_535, fallback: 8080 }),
    /** The folder of the database, the secrets, the e-mails and the logs. */
    dataDir: string('SHOP_DATA_DIR', join(root, '.data')),
    /** An administrator's connection to an outside PostgreSQL, instead of the embedded one. */
    databaseUrl: optional(url('DATABASE_URL', ['postgres', 'postgresql'])),
    /** A broker (amqp://) or another PostgreSQL for the events, instead of the shop's own database. */
    eventsUrl: optional(eventsUrl()),
    /** The management interface of RabbitMQ with an administrator, for listeners. */
    eventsAdminUrl: optional(url('EVENTS_ADMIN_URL', ['http', 'https'])),
  });
}

/**
 * Returns the connections of the services' own roles, for an operator without an administrator's connection.
 * @returns undefined when none of the variables is set
 * @throws StartError when only some of them are set
 */
export function readServiceDatabases(environment: Environment): Readonly<Record<ServiceName, string>> | undefined {
  const urls = readConfig(
    environment,
    Object.fromEntries(
      serviceNames.map((name) => [
        name,
        optional(url(`${name.toUpperCase()}_DATABASE_URL`, ['postgres', 'postgresql'])),
      ]),
    ),
  );
  const missing = serviceNames.filter((name) => urls[name] === undefined);
  if (missing.length === serviceNames.length) return undefined;
  if (missing.length === 0) return urls as Record<ServiceName, string>;
  throw new StartError(`set ${missing.map((name) => `${name.toUpperCase()}_DATABASE_URL`).join(', ')}, too`);
}
