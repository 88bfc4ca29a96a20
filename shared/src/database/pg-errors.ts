// Classifies PostgreSQL's errors: a conflict to retry, an unavailable database, a violated constraint.

interface Coded {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly constraint?: unknown;
}

/** Returns the driver's error, which sequelize stores as `parent` of its own error; otherwise the error itself. */
function driverError(error: unknown): Coded {
  if (typeof error !== 'object' || error === null) return {};
  return error instanceof Error && 'parent' in error && error.parent instanceof Error ? error.parent : error;
}

/** Returns the SQLSTATE or system error code, or undefined. */
export function errorCode(error: unknown): string | undefined {
  const { code } = driverError(error);
  return typeof code === 'string' ? code : undefined;
}

/** Returns the name of the constraint that a write violated; undefined for any other error. */
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
 * SQLSTATEs after which the same request may succeed later: the server cannot execute it at present, or this connection
 * uses a server that cannot (PostgreSQL documentation, Appendix A). Two characters match a whole class.
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
/** Prefixes of the driver's error messages that have no code. */
const unavailableMessages = [
  'Connection terminated',
  'Connection ended',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after',
];

/**
 * Returns whether an error means that the database is unavailable or overloaded, so that the same request may succeed
 * later.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined) return isUnavailableState(code) || unavailableSystemCodes.has(code) || conflicts.has(code);
  const message = String(driverError(error).message);
  return unavailableMessages.some((beginning) => message.startsWith(beginning));
}

/** Returns whether a statement was cancelled because it took too long, by the server or by the driver. */
export function isTimeout(error: unknown): boolean {
  const code = errorCode(error);
  return code === undefined ? String(driverError(error).message).startsWith('Query read timeout') : code === '57014';
}

function isUnavailableState(code: string): boolean {
  return code in unavailableStates || (code.length === 5 && code.slice(0, 2) in unavailableStates);
}

/**
 * Returns whether the connection of a failed statement must be closed. Its server may be read-only, and the next
 * connection may reach the primary. Or the driver has stopped waiting for the statement, which the server may still be
 * running.
 */
export function spoilsConnection(error: unknown): boolean {
  const code = errorCode(error);
  if (code === '25006') return true;
  return isDatabaseUnavailable(error) && (code === undefined || unavailableSystemCodes.has(code));
}
