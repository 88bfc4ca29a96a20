// A service's connections to its own schema: one pool for transactions and for reads outside them.
import pg from 'pg';
import { type Log, outsideRequests, toReason } from '../runtime/index.ts';
import { measured, measureTransaction } from './measure-statement.ts';
import { observePool } from './observe-pool.ts';
import { retryConflicts } from './pg-errors.ts';
import { PrimaryClient } from './primary-client.ts';
import { inTransaction, type Transaction } from './transaction.ts';
import { withClient } from './with-client.ts';

export interface DatabaseOptions {
  /** The connection string of the service's own role, which owns the service's schema. It may list several hosts. */
  readonly url: string;
  /** The application name of each connection in PostgreSQL. */
  readonly name: string;
  readonly log: Log;
  /** The maximum number of connections in the pool; default 10. */
  readonly poolSize?: number | undefined;
  /** The maximum duration of one statement in milliseconds; default 5000. */
  readonly statementTimeout?: number;
}

export interface Database {
  /** The pool for statements outside transactions. */
  readonly pool: pg.Pool;
  /**
   * Runs `work` in one transaction (READ COMMITTED) and commits. After a deadlock or serialization failure (40P01,
   * 40001) it rolls back and runs `work` again, at most three times in all. So `work` must have no effect outside the
   * transaction. `work` must not wait for another connection of the pool, because such transactions may together use
   * all of them.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Rejects when the database does not respond or is read-only. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Seconds after which a connection is replaced even when it is never idle. Its server process remembers every named
 * statement, and uses more and more memory. A new connection starts without named statements, and prepares them again.
 */
export const connectionLife = 1_800;

const int8 = 20;

/** Parses a bigint column as a number. CHECK constraints limit the shop's columns to the safe integers. */
function parseInt8(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('a bigint from the database is past the safe integers');
  return number;
}

/** Opens the pool. Connections are made when they are first needed, and again after a loss. */
export function connectDatabase(options: DatabaseOptions): Database {
  pg.types.setTypeParser(int8, parseInt8);
  const { poolSize: size = 10, statementTimeout = 5_000 } = options;
  const session = {
    application_name: options.name,
    statement_timeout: statementTimeout,
    // This time is longer than the server's own limit. It aborts statements on a silent connection that was not closed.
    query_timeout: statementTimeout + 2_000,
    idle_in_transaction_session_timeout: 15_000,
    keepAlive: true,
  };
  const pool = new pg.Pool({
    Client: PrimaryClient,
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
      // When all connections are in use, the server may still be available, and waiting for a connection may take
      // longer than a probe allows.
      const full = pool.totalCount >= size && pool.idleCount === 0;
      if (full) return withClient({ url: options.url, connectWithin: 1_000 }, requireWritable);
      const client = await pool.connect();
      let failed: Error | undefined;
      try {
        await requireWritable(client);
      } catch (error) {
        failed = error instanceof Error ? error : new Error(toReason(error));
        throw failed;
      } finally {
        // The connection is closed after a failure, because the next one may reach a writable server.
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
