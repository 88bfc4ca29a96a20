// The log of a process: JSON lines on standard output, secrets redacted.
import { type Logger, pino, stdSerializers } from 'pino';

export type Log = Logger;

const secretMembers = ['password', 'access_token', 'refresh_token', 'authorization', 'Authorization', 'cookie'];

/**
 * Of an error its kind, message, stack and code. The driver's errors also carry the statement's values and the row that was
 * refused: what customers wrote, and hashes of passwords.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack } = stdSerializers.err(error);
  const code = 'code' in error ? error.code : undefined;
  return { type, message, stack, ...(code === undefined ? {} : { code }) };
}

/**
 * A logger that names its process in every line.
 * @param level one of pino's levels; default `LOG_LEVEL` or `info`
 */
export function createLog(name: string, level: string = process.env.LOG_LEVEL ?? 'info'): Log {
  return pino({
    name,
    level,
    base: { name, pid: process.pid },
    serializers: { err: describeError },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: secretMembers.flatMap((member) => [member, `*.${member}`, `*.*.${member}`]),
      censor: '[redacted]',
    },
  });
}
