// The log of a process: JSON lines on standard output, secrets redacted.
import { type Logger, pino } from 'pino';

export type Log = Logger;

const secretMembers = ['password', 'access_token', 'refresh_token', 'authorization', 'Authorization', 'cookie'];

/**
 * A logger that names its process in every line.
 * @param level one of pino's levels; default `LOG_LEVEL` or `info`
 */
export function createLog(name: string, level: string = process.env.LOG_LEVEL ?? 'info'): Log {
  return pino({
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: secretMembers.flatMap((member) => [member, `*.${member}`, `*.*.${member}`]),
      censor: '[redacted]',
    },
  });
}
