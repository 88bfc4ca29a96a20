// A service's connections to its own schema: one pool for transactions and for reads outside them.
import pg from 'pg';
import { type Log, outsideRequests } from '../runtime/index.ts';
import { measured, measureTransaction } from './measure-statement.ts';
import { observePool } from './observe-pool.ts';
import { retryConflicts } from './pg-errors.ts';
import { inTransaction, type Transaction } from './transaction.ts';
import { withClient } from './with-client.ts';

export interface DatabaseOptions {
  /** Connection string of the service's own role, which owns the service's schema. */
  readonly url: string;
  /** Shown by PostgreSQL beside each connection. */
  readonly name: string;
  readonly log: Log;
  /** Connections that the pool opens at most; default 10. */
  readonly poolSize?: number | undefined;
  /** How long one statement may run, in milliseconds; default 5000. */
  readonly statementTimeout?: number;
}

export interface Database {
  /** For statements outside transactions. */
  readonly pool: pg.Pool;
  /**
   * Runs `work` in one transaction (READ COMMITTED) and commits. A deadlock or serialization failure (40P01, 40001)
   * rolls back and runs `work` again, at most three times in all: `work` must have no effect outside the transaction.
   * It must not wait for another connection of the pool either, because all of them may be held by transactions that
   * wait for the same.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Rejects when the database does not answer or is read-only. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * How long a connection that is never idle is kept, in seconds. Its server process remembers every statement that had a
 * name on it, and more; a new one begins without, and has named statements prepared again.
 */
export const connectionLife = 1_800;

const int8 = 20;

/** A bigint column as a number. The CHECK constraints of the shop's columns keep them within the safe integers. */
function parseInt8(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('a bigint from the database is past the safe integers');
  return number;
}

/**
 * A connection may fail before the pool adds its own listener, and an error event without a listener ends the process.
 * The pool still detects every lost connection.
 */
class ListeningClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** Opens the pool; connections are made when they are first needed, and again after a loss. */
export function connectDatabase(options: DatabaseOptions): Database {
  pg.types.setTypeParser(int8, parseInt8);
  const { poolSize: size = 10, statementTimeout = 5_000 } = options;
  const session = {
    application_name: options.name,
    statement_timeout: statementTimeout,
    // Longer than the server's own limit: it ends statements on a connection that is silent without having been closed.
    query_timeout: statementTimeout + 2_000,
    idle_in_transaction_session_timeout: 15_000,
    keepAlive: true,
  };
  const pool = new pg.Pool({
    Client: ListeningClient,
    connectionString: options.url,
    max: size,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: connectionLife,
    ...session,
  });
  pool.on('error', (error) =>
    outsideRequests(() => options.log.warn({ err: error }, 'an idle database connection was lost')),
  );
  observePool(pool);
  return {
    pool: measured(pool),
    transaction: (work) => retryConflicts(() => measureTransaction(() => inTransaction(pool, work))),
    async ping() {
      // That all connections are in use says nothing about the server, and waiting for one may take longer than a probe
      // allows.
      const full = pool.totalCount >= size && pool.idleCount === 0;
      if (full) return withClient({ url: options.url, connectWithin: 1_000 }, requireWritable);
      const client = await pool.connect();
      let failed: Error | undefined;
      try {
        await requireWritable(client);
      } catch (error) {
        failed = error instanceof Error ? error : new Error(String(error));
        throw failed;
      } finally {
        // The next connection may lead to a server that takes writes.
        client.release(failed);
      }
    },
    close: () => pool.end(),
  };
}

/** @throws Error when the server of this connection is read-only */
async function requireWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'off') throw new Error('the database is read-only');
}
