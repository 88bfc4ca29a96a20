// What `npm start` and the command line take from the environment themselves; the rest goes on to the processes.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, integer, optional, readConfig, text, url } from '@shop/shared/runtime';

/** The checkout. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The environment, with the checkout's `.env` behind it. What is set to nothing counts as not set. */
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
    /** Where clients reach the shop. */
    gatewayHost: text('GATEWAY_HOST', '127.0.0.1'),
    gatewayPort: integer('GATEWAY_PORT', { min: 1, max: 65_535, fallback: 8080 }),
    /** Database, secrets, e-mails and logs. */
    dataDir: text('SHOP_DATA_DIR', join(root, '.data')),
    /** An administrator's connection to an outside PostgreSQL, instead of the embedded one. */
    databaseUrl: optional(url('DATABASE_URL', ['postgres', 'postgresql'])),
    /** A broker (amqp://) or another PostgreSQL for the events, instead of the shop's own database. */
    eventsUrl: optional(url('EVENTS_URL', ['amqp', 'amqps', 'postgres', 'postgresql'])),
  });
}
