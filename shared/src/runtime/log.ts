// The log of a process: JSON lines on standard output, each with its request and trace, and without secrets. On a
// terminal the lines are formatted for people.

import { createRequire } from 'node:module';
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import { type Environment, oneOf, readConfig } from './config.ts';
import { redact, secretMembers } from './redact.ts';
import { requestNow } from './request-scope.ts';
import { toReason } from './to-reason.ts';

export type Log = Logger;

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof levels)[number];

/** @throws ConfigError when LOG_LEVEL is not a level */
export function readLogLevel(environment: Environment): LogLevel {
  return readConfig(environment, { level: oneOf('LOG_LEVEL', levels, 'info') }).level;
}

/**
 * Returns the name, message, stack and code of an error. Its other members are omitted, because errors of the database
 * driver contain values of the statement and the rejected row, such as customers' data and password hashes.
 */
function describeError(error: unknown): object {
  const { type, message, stack } =
    error instanceof Error ? stdSerializers.err(error) : { type: undefined, message: undefined, stack: undefined };
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return { type, message: message || toReason(error), stack, ...(code === undefined ? {} : { code }) };
}

/** Returns the request and trace of a line. Members of the line itself take precedence. */
function describeRequest(): object {
  const request = requestNow();
  if (request === undefined) return {};
  const [, trace_id, span_id] = request.traceparent?.split('-') ?? [];
  return { requestId: request.id, ...(trace_id === undefined ? {} : { trace_id, span_id }) };
}

/** Returns a logger that adds the name of the process to every line. */
export function createLog(name: string, level: LogLevel): Log {
  const options: LoggerOptions = {
    name,
    level,
    base: { name, pid: process.pid },
    serializers: { err: describeError },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: describeRequest,
    redact: {
      paths: secretMembers.flatMap((member) => [member, `*.${member}`, `*.*.${member}`]),
      censor: '[redacted]',
    },
    hooks: { streamWrite: redact },
  };
  return process.stdout.isTTY ? pino(options, forPeople()) : pino(options);
}

const forPeopleOptions = { translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,name,trace_id,span_id' } as const;

/** Creates readable log lines for a terminal; the module is loaded only there. */
function forPeople(): DestinationStream {
  return loadPretty().build({ sync: true, ...forPeopleOptions });
}

/** Returns a function that formats a JSON line of a log for people. A line that is not JSON stays as it is. */
export function createLineFormatter(colorize: boolean): (line: string) => string {
  const format = loadPretty().prettyFactory({ colorize, ...forPeopleOptions });
  return (line) => format(line).trimEnd();
}

function loadPretty(): typeof import('pino-pretty') {
  return createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
}
