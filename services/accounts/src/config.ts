// Reads the environment of the accounts service as one frozen object. All configuration errors are reported together.
import { availableParallelism } from 'node:os';
import { type Environment, integer, keyList, readConfig, secretList, url } from '@shop/shared/runtime';
import { callerVariables, serviceVariables } from '@shop/shared/service';

const { databaseUrl } = serviceVariables;
const keyEncryptionSecrets = secretList('KEY_ENCRYPTION_SECRET');

/** @throws ConfigError naming every variable that is missing or wrong */
export function readEnvironment(environment: Environment) {
  return readConfig(environment, {
    ...serviceVariables,
    ...callerVariables,
    keyEncryptionSecrets,
    cursorKeys: keyList('CURSOR_KEYS'),
    /** The services that return their parts of an export. */
    ordersUrl: url('ORDERS_URL', ['http', 'https']),
    notificationsUrl: url('NOTIFICATIONS_URL', ['http', 'https']),
    changesUrl: url('CHANGES_URL', ['http', 'https']),
    /** Concurrent password hashes. One hash uses one core and 19 MiB for about 20 ms. */
    hashConcurrency: integer('HASH_CONCURRENCY', { min: 1, max: 64, fallback: Math.min(availableParallelism(), 4) }),
    /** The maximum number of passwords that wait for their hash. Further requests get 503. */
    hashQueue: integer('HASH_QUEUE', { min: 0, max: 100_000, fallback: 400 }),
    /** Days for which an unused refresh token stays valid. */
    refreshTokenDays: integer('REFRESH_TOKEN_DAYS', { min: 1, max: 365, fallback: 30 }),
    /** Days for which a log-in can be renewed. After that the customer has to enter the password again. */
    refreshFamilyDays: integer('REFRESH_FAMILY_DAYS', { min: 1, max: 3_650, fallback: 90 }),
  });
}

/** Returns the configuration of operator functions that use signing keys. */
export function readKeyStoreConfig(environment: Environment) {
  return readConfig(environment, { databaseUrl, keyEncryptionSecrets });
}

/** Returns the configuration of operator functions that need only the database. */
export function readDatabaseConfig(environment: Environment) {
  return readConfig(environment, { databaseUrl });
}

/** Returns the configuration of the operator's function that sends an e-mail with a token. */
export function readEmailTokenConfig(environment: Environment) {
  return readConfig(environment, { internalSecrets: callerVariables.internalSecrets });
}
