// What PostgreSQL's errors mean: a conflict to retry, an unavailable database, a violated constraint.
import { BaseError, ConnectionError } from 'sequelize';

interface Coded {
  readonly code?: unknown;
  readonly constraint?: unknown;
}

/** The error of the driver below sequelize's wrapping, or the error itself. */
function driverError(error: unknown): Coded {
  if (error instanceof BaseError && 'parent' in error && typeof error.parent === 'object' && error.parent !== null) {
    return error.parent as Coded;
  }
  return typeof error === 'object' && error !== null ? (error as Coded) : {};
}

/** The SQLSTATE or system error code, or undefined. */
export function errorCode(error: unknown): string | undefined {
  const { code } = driverError(error);
  return typeof code === 'string' ? code : undefined;
}

/** The name of the constraint that a write violated, or undefined when the error is another. */
export function violatedConstraint(error: unknown): string | undefined {
  const { constraint } = driverError(error);
  return typeof constraint === 'string' && errorCode(error)?.startsWith('23') ? constraint : undefined;
}

const conflicts = new Set(['40P01', '40001']);
const attempts = 3;

/** Runs `work` again after a deadlock or a serialization failure, at most three times in all. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts || !conflicts.has(errorCode(error) ?? '')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5 * attempt + Math.random() * 20));
    }
  }
}

/**
 * SQLSTATEs after which the same request may succeed later, because the server cannot do it at the moment or because this
 * connection leads to a server that cannot (PostgreSQL documentation, Appendix A). Two characters stand for a whole class.
 */
export const unavailableStates = {
  '08': 'connection exception',
  '25006': 'read-only SQL transaction: a standby, or a former primary',
  '25P03': 'idle-in-transaction session timeout',
  '25P04': 'transaction timeout',
  '28': 'invalid authorization: a password is being rotated',
  '3D000': 'invalid catalog name: the database is being restored or moved',
  '53': 'insufficient resources: connections, memory, disk',
  '55P03': 'lock not available',
  '57014': 'query canceled: the statement timeout',
  '57P01': 'admin shutdown',
  '57P02': 'crash shutdown',
  '57P03': 'cannot connect now: starting up, shutting down or recovering',
  '57P04': 'database dropped',
  '57P05': 'idle session timeout',
  '58': 'system error: input and output of the server',
} as const;

const unavailableSystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const unavailableMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Connection ended|Cannot use a pool after)/;

/** Whether an error says that the database is unavailable or overloaded, so that the same request may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const code = errorCode(error);
  if (code !== undefined) return isUnavailableState(code) || unavailableSystemCodes.has(code) || conflicts.has(code);
  const name = error instanceof Error ? error.name : '';
  if (name === 'SequelizeConnectionAcquireTimeoutError' || name === 'TimeoutError') return true;
  const message = error instanceof Error ? error.message : '';
  if (unavailableMessages.test(message)) return true;
  return (
    error instanceof BaseError &&
    'parent' in error &&
    error.parent instanceof Error &&
    unavailableMessages.test(error.parent.message)
  );
}

function isUnavailableState(code: string): boolean {
  return code in unavailableStates || (code.length === 5 && code.slice(0, 2) in unavailableStates);
}

/** Whether an error says that its connection leads to a server that takes no writes: the next connection may lead to another one. */
export function isReadOnlyServer(error: unknown): boolean {
  return errorCode(error) === '25006';
}
