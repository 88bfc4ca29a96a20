// The environment of the accounts service as one frozen object; every mistake is reported at once.
import { availableParallelism } from 'node:os';
import { choice, type Environment, integer, readConfig, secret, share, text, url } from '@shop/shared/runtime';

export type Config = ReturnType<typeof readAccountsConfig>;

/** @throws ConfigError naming every variable that is missing or wrong */
export function readAccountsConfig(environment: Environment) {
  return readConfig(environment, {
    ...keyStore,
    eventsUrl: url('EVENTS_URL', ['postgres', 'postgresql', 'amqp', 'amqps']),
    host: text('HOST', '127.0.0.1'),
    port: integer('PORT', { min: 0, max: 65_535 }),
    jwksUrl: url('JWKS_URL', ['http', 'https']),
    jwtIssuer: text('JWT_ISSUER'),
    jwtAudience: text('JWT_AUDIENCE'),
    /** What an outside identity provider signs with; ours are ES256. */
    jwtAlgorithm: choice('JWT_ALGORITHM', ['ES256', 'EdDSA', 'RS256', 'PS256'], 'ES256'),
    internalSecret: secret('INTERNAL_SECRET'),
    /** How many of its answers it holds against its contract while it works. */
    contractWatch: share('CONTRACT_WATCH', 0),
    /** Passwords hashed at once. One hash keeps one core and 19 MiB busy for about 20 ms. */
    hashConcurrency: integer('HASH_CONCURRENCY', { min: 1, max: 64, fallback: Math.min(availableParallelism(), 4) }),
    /** Passwords that wait for their turn; more are refused with 503. */
    hashQueue: integer('HASH_QUEUE', { min: 0, max: 100_000, fallback: 400 }),
    /** How long a refresh token that nobody uses stays valid. */
    refreshTokenDays: integer('REFRESH_TOKEN_DAYS', { min: 1, max: 365, fallback: 30 }),
  });
}

const keyStore = {
  databaseUrl: url('DATABASE_URL', ['postgres', 'postgresql']),
  keyEncryptionSecret: secret('KEY_ENCRYPTION_SECRET'),
};

/** What the command that rotates signing keys needs. */
export function readKeyStoreConfig(environment: Environment) {
  return readConfig(environment, keyStore);
}

/** What the command that grants scopes needs. */
export function readDatabaseConfig(environment: Environment) {
  return readConfig(environment, { databaseUrl: keyStore.databaseUrl });
}
