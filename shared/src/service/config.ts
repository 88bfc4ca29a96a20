// The environment variables that the services have in common; a service's own config.ts adds its own.
import { tokenVariables } from '../auth/index.ts';
import { drain, integer, secret, share, string, url } from '../runtime/index.ts';

const postgres = ['postgres', 'postgresql'];

/** What every service needs. */
export const serviceVariables = {
  databaseUrl: url('DATABASE_URL', postgres),
  eventsUrl: url('EVENTS_URL', ['amqp', 'amqps', ...postgres]),
  host: string('HOST', '127.0.0.1'),
  /** 0 takes a free port. */
  port: integer('PORT', { min: 0, max: 65_535 }),
  drain,
};

/** What a service needs besides when it takes requests of other services. */
export const internalVariables = {
  internalSecret: secret('INTERNAL_SECRET'),
};

/** What a service needs besides when it takes requests of accounts and of other services. */
export const callerVariables = {
  ...tokenVariables,
  ...internalVariables,
  /** How many of its answers it holds against its contract while it works. */
  contractWatch: share('CONTRACT_WATCH', 0),
};

type ValuesOf<Variables extends Record<string, { parse(text: string): unknown }>> = {
  readonly [Key in keyof Variables]: ReturnType<Variables[Key]['parse']>;
};

type Values = ValuesOf<typeof serviceVariables>;

/** The least that a service's configuration holds. */
export type ServiceConfig =
  | Values
  | (Values & ValuesOf<typeof internalVariables>)
  | (Values & ValuesOf<typeof callerVariables>);
