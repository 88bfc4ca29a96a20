// The environment variables that the services have in common. A service's own config.ts adds others.
import { tokenVariables } from '../auth/index.ts';
import { eventsUrl } from '../events/index.ts';
import { drain, integer, secretList, share, string, urlOfHosts } from '../runtime/index.ts';

/** The variables of every service. */
export const serviceVariables = {
  databaseUrl: urlOfHosts('DATABASE_URL', ['postgres', 'postgresql']),
  eventsUrl: eventsUrl(),
  host: string('HOST', '127.0.0.1'),
  /** 0 selects a free port. */
  port: integer('PORT', { min: 0, max: 65_535 }),
  drain,
};

/** The further variables of a service that accepts requests of accounts and of other services. */
export const callerVariables = {
  ...tokenVariables,
  internalSecrets: secretList('INTERNAL_SECRET'),
  /** The fraction of responses that are validated against the contract in operation. */
  contractWatch: share('CONTRACT_WATCH', 0),
};

type ValuesOf<Variables extends Record<string, { parse(text: string): unknown }>> = {
  readonly [Key in keyof Variables]: ReturnType<Variables[Key]['parse']>;
};

type Values = ValuesOf<typeof serviceVariables>;

/** The common part of every service's configuration. */
export type ServiceConfig = Values | (Values & ValuesOf<typeof callerVariables>);
