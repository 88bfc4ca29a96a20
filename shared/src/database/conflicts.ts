// What PostgreSQL's errors mean: conflicts to retry, a database that is away, a constraint that refused.
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

// 53: insufficient resources; 57P0x: shutdown, crash, cannot connect now; 57014: statement time-out; 25P03: idle in transaction.
const awayStates = /^(08...|53...|57P0.|57014|25P0[34]|55P03)$/;
const awaySystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const awayMessages =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Connection ended|Cannot use a pool after)/;

/** Whether an error says that the database is away or overloaded, so that the same request may succeed later. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const code = errorCode(error);
  if (code !== undefined) return awayStates.test(code) || awaySystemCodes.has(code) || conflicts.has(code);
  const name = error instanceof Error ? error.name : '';
  if (name === 'SequelizeConnectionAcquireTimeoutError' || name === 'TimeoutError') return true;
  const message = error instanceof Error ? error.message : '';
  if (awayMessages.test(message)) return true;
  return (
    error instanceof BaseError &&
    'parent' in error &&
    error.parent instanceof Error &&
    awayMessages.test(error.parent.message)
  );
}
