// The start of every service, in this order: database and schema, verification of callers, its own parts, events, HTTP.
import { createServiceTokens, createTokenVerifier } from '../auth/index.ts';
import { type Contract, loadContract } from '../contract/index.ts';
import {
  checkLocale,
  connectDatabase,
  type Database,
  startPruning,
  untilAvailable,
  untilMigrated,
} from '../database/index.ts';
import { type ConsumerName, expiredEvents, type HandlersOf, longestLag, startEvents } from '../events/index.ts';
import {
  type AppOptions,
  createApp,
  createInternalClient,
  expiredResponses,
  type InternalClient,
  type Operations,
  type ResponseCache,
  serve,
} from '../http/index.ts';
import { createHealth, type Environment, type Health, type ProcessLife, runProcess } from '../runtime/index.ts';
import { observe, readProcessSettings, startTelemetry } from '../telemetry/index.ts';
import type { ServiceConfig } from './config.ts';

export interface ServiceSpec<Config, Context, Consumer extends ConsumerName> {
  readonly name: string;
  /** The absolute path of the workspace, which contains `openapi.yaml` and `migrations`. */
  readonly folder: string;
  readonly readConfig: (environment: Environment) => Config;
  /** The maximum number of database connections, if it differs from the default. */
  readonly poolSize?: number;
  /**
   * Creates the context and the operations. The schema is migrated before; events and requests are handled afterwards.
   */
  readonly build: (
    start: ServiceStart<Config>,
  ) => Promise<ServiceParts<Context, Consumer>> | ServiceParts<Context, Consumer>;
}

export interface ServiceStart<Config> extends ProcessLife {
  readonly config: Config;
  readonly database: Database;
  readonly contract: Contract;
  /** Returns a client for the internal operations of another service, at this origin. */
  callService(service: string, url: string): InternalClient;
}

export interface ServiceParts<Context, Consumer extends ConsumerName> {
  readonly operations: Operations<Context>;
  readonly context: Context;
  /** The cached responses of operations. */
  readonly cache?: ResponseCache | undefined;
  readonly consume?: { readonly name: Consumer; readonly handlers: HandlersOf<Consumer> };
  /** Whether the service cannot work without the broker. It is then not ready while the broker is unavailable. */
  readonly needsBroker?: boolean;
  /** Ends the responses that would last until their clients leave. Called when the process stops. */
  readonly endStreams?: () => Promise<void>;
}

/**
 * Runs a service as a process, until SIGTERM or SIGINT. A configuration error, a taken port, or a contract with missing
 * functions prints one line each and exits with 1. The service waits for a database, a schema or a broker that is not
 * available yet.
 */
export function startService<Config extends ServiceConfig, Context, Consumer extends ConsumerName>(
  service: ServiceSpec<Config, Context, Consumer>,
): Promise<void> {
  const { name, folder } = service;
  const read = (environment: Environment) => readProcessSettings(environment, service.readConfig);
  return runProcess(name, read, async (life, { config, telemetry }) => {
    const { log } = life;
    await startTelemetry(name, life, telemetry);
    const health = createHealth();
    observeHealth(health);

    const database = connectDatabase({ url: config.databaseUrl, name, log, poolSize: service.poolSize });
    life.onStop('database', () => database.close());
    health.add('database', () => database.ping());
    await untilMigrated(database, `${folder}/migrations`, log);
    await untilAvailable(() => checkLocale(database.pool, log), log);
    life.onStop('pruning', startPruning(database.pool, [expiredResponses, ...expiredEvents], log));

    const contract = loadContract(`${folder}/openapi.yaml`);
    const callers = openCallers(name, config, life);
    const parts = await service.build({
      ...life,
      config,
      database,
      contract,
      callService(other, url) {
        const { serviceTokens } = callers;
        if (serviceTokens === undefined) throw new Error('calls to other services need INTERNAL_SECRET');
        const client = createInternalClient({ url, service: other, serviceTokens });
        life.onStop(`calls to ${other}`, () => client.close());
        return client;
      },
    });

    const { consume } = parts;
    const { databaseUrl, eventsUrl } = config;
    const refused = life.fail;
    const events = await startEvents({ service: name, url: eventsUrl, databaseUrl, database, log, refused, consume });
    life.onStop('events', () => events.close());
    health.tell('outboxLag', () => events.lag(), longestLag);
    if (parts.needsBroker === true) health.add('events', () => events.ping());

    const { operations, context, cache } = parts;
    const app = createApp({ name, contract, operations, context, cache, ...callers, health, log });
    const { host, port, drain } = config;
    await serve(app, { host, port, drain, health, life, endStreams: parts.endStreams });
  });
}

/** Reports the result of each readiness check, and their conjunction as the check `ready`. */
function observeHealth(health: Health): void {
  const about = { unit: '1', description: 'Whether a check of readiness passes.' };
  observe('shop.health', about, async (tell) => {
    const { ready, checks } = await health.report();
    tell(ready ? 1 : 0, { 'shop.check': 'ready' });
    for (const [check, state] of Object.entries(checks)) tell(state === 'ok' ? 1 : 0, { 'shop.check': check });
  });
}

/** Creates the verifiers for those kinds of callers for which the service's configuration has settings. */
function openCallers(
  name: string,
  config: ServiceConfig,
  life: ProcessLife,
): Pick<AppOptions<unknown>, 'verifier' | 'serviceTokens' | 'contractWatch'> {
  if (!('internalSecrets' in config)) return {};
  const serviceTokens = createServiceTokens({ secrets: config.internalSecrets, name });
  const { jwksUrl, issuer, audience, algorithm, contractWatch } = config;
  const verifier = createTokenVerifier({ jwksUrl, issuer, audience, algorithm, log: life.log });
  life.onStop('key set', () => verifier.close());
  return { verifier, serviceTokens, contractWatch };
}
