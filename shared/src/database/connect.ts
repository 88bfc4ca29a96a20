// A service's connection to its own schema: sequelize for models and transactions, a pg pool for hot reads.
import pg from 'pg';
import { Sequelize, type Transaction } from 'sequelize';
import { type Log, outsideRequests } from '../runtime/index.ts';
import { measured, measureTransaction } from './measure-statement.ts';
import { observePools } from './observe-pools.ts';
import { isReadOnlyServer, retryConflicts } from './pg-errors.ts';

export interface DatabaseOptions {
  /** Connection string of the service's own role, which owns the service's schema. */
  readonly url: string;
  /** Shown by PostgreSQL beside each connection. */
  readonly name: string;
  readonly log: Log;
  /** Connections of each of the two pools; default 10. */
  readonly poolSize?: number | undefined;
  /** How long one statement may run, in milliseconds; default 5000. */
  readonly statementTimeout?: number;
}

export interface Database {
  /** Models are initialised on it; every query of a transaction is given that transaction. */
  readonly sequelize: Sequelize;
  /** For reads outside transactions where a model costs too much. */
  readonly pool: pg.Pool;
  /**
   * Runs `work` in one transaction (READ COMMITTED) and commits. A deadlock or serialization failure (40P01, 40001) rolls back
   * and runs `work` again, at most three times: it must have no effect outside the transaction.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Rejects when the database does not answer or is read-only. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * How long a connection that is never idle is kept, in seconds. Its server process remembers every statement that had a name on it,
 * and more; a new one begins without, and has named statements prepared again.
 */
export const connectionLife = 1_800;

const int8 = 20;

/** A bigint column as a number. Columns of ours stay within the safe integers by their CHECK constraints. */
function parseInt8(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('a bigint from the database is past the safe integers');
  return number;
}

/**
 * A connection that is lost in the moment in which it stands tells it before anybody listens, and an error that nobody hears ends
 * the process. The pools still learn of every loss by themselves.
 */
class HeardClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

interface ConnectionManager {
  validate(connection: unknown): boolean;
}

/** What sequelize does not declare in its types. */
function managerOf(sequelize: Sequelize): ConnectionManager {
  return (sequelize as unknown as { connectionManager: ConnectionManager }).connectionManager;
}

function connectionOf(tx: Transaction): object {
  return (tx as Transaction & { readonly connection: object }).connection;
}

/** Opens the pools; connections are made when they are first needed, and again after a loss. */
export function connectDatabase(options: DatabaseOptions): Database {
  pg.types.setTypeParser(int8, parseInt8);
  const { poolSize: size = 10, statementTimeout = 5_000 } = options;
  const session = {
    application_name: options.name,
    statement_timeout: statementTimeout,
    // Past the server's own limit: a connection that fell silent, without anybody having closed it, is given up then.
    query_timeout: statementTimeout + 2_000,
    idle_in_transaction_session_timeout: 15_000,
    keepAlive: true,
  };
  const readOnly = new WeakSet<object>();
  const isUsable = (connection: unknown): boolean =>
    !readOnly.has(connection as object) && managerOf(sequelize).validate(connection);
  const sequelize = new Sequelize(options.url, {
    dialect: 'postgres',
    dialectModule: { ...pg, Client: HeardClient },
    dialectOptions: { ...session, connectionTimeoutMillis: 2_000 },
    pool: { max: size, min: 0, acquire: 3_000, idle: 30_000, validate: isUsable },
    logging: false,
  });
  const pool = new pg.Pool({
    Client: HeardClient,
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
  observePools(sequelize, pool);
  return {
    sequelize,
    pool: measured(pool),
    transaction: (work) =>
      retryConflicts(() =>
        measureTransaction(() =>
          sequelize.transaction(async (tx) => {
            try {
              return await work(tx);
            } catch (error) {
              // The pool ends the connection instead of lending it again. The pg pool does so after every error.
              if (isReadOnlyServer(error)) readOnly.add(connectionOf(tx));
              throw error;
            }
          }),
        ),
      ),
    async ping() {
      const client = await pool.connect();
      let failed: Error | undefined;
      try {
        const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
        if (rows[0]?.transaction_read_only !== 'off') throw new Error('the database is read-only');
      } catch (error) {
        failed = error instanceof Error ? error : new Error(String(error));
        throw failed;
      } finally {
        // The next connection may lead to a server that takes writes.
        client.release(failed);
      }
    },
    async close() {
      await Promise.all([sequelize.close(), pool.end()]);
    },
  };
}
