// Runs reads that accept slightly outdated data on a replica while its lag is small, and otherwise on the primary.
import pg from 'pg';
import { Problem } from '../problem/index.ts';
import { type Log, toReason } from '../runtime/index.ts';
import { connectionLife } from './connect.ts';
import { errorCode } from './pg-errors.ts';
import { type Queryable, ReplicaLag } from './replica-lag.ts';

export interface ReadReplica {
  /**
   * Runs `work` on a server with data of at most the configured age. After any error except a Problem on the replica,
   * `work` runs again on the primary, so it must only read. Errors on the primary are thrown.
   */
  read<T>(work: (on: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ReadReplicaOptions {
  /** The connection string of a replica, or of several replicas with one address. */
  readonly replicaUrl: string;
  readonly primary: pg.Pool;
  /** The maximum age of the data in milliseconds, at least 1000. */
  readonly maximumLag: number;
  /** The application name of each connection in PostgreSQL. */
  readonly name: string;
  readonly log: Log;
}

const checkEvery = 500;
const conflictWithReplay = '40001';

/**
 * Opens connections to the replica. Primary and replica are checked twice a second, which decides whether reads use the
 * replica. Several replicas may share one address, so each connection also checks the position of its own server,
 * before its first read and after a period. No read fails because a replica is unavailable, hangs or lags: waiting
 * reads use the primary. The first successful check enables the replica again.
 */
export function openReadReplica(options: ReadReplicaOptions): ReadReplica {
  return new CheckedReplica(options);
}

class CheckedReplica implements ReadReplica {
  readonly #primary: Queryable;
  readonly #log: Log;
  readonly #reading: pg.Pool;
  readonly #checking: pg.Pool;
  readonly #lag: ReplicaLag;
  /** Rejects the reads that wait for the replica. */
  readonly #waiting = new Set<(reason: Error) => void>();
  #inUse = false;
  /** The reason that was logged last. */
  #reason = '';
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ replicaUrl, primary, maximumLag, name, log }: ReadReplicaOptions) {
    this.#primary = primary;
    this.#log = log;
    this.#reading = openPool(replicaUrl, { name, connections: 10, connectWithin: 3_000, answerWithin: 6_000 });
    this.#checking = openPool(replicaUrl, { name, connections: 1, connectWithin: 1_000, answerWithin: 1_000 });
    this.#lag = new ReplicaLag(maximumLag);
    void this.#check();
  }

  async read<T>(work: (on: Queryable) => Promise<T>): Promise<T> {
    if (!this.#inUse) return work(this.#primary);
    try {
      return await this.#readReplica(work);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // A query that conflicted with the replay of the WAL does not show that the replica is unavailable.
      if (this.#inUse && errorCode(error) !== conflictWithReplay) this.#disable(error);
      return work(this.#primary);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#reading.end(), this.#checking.end()]);
  }

  async #check(): Promise<void> {
    try {
      // While the primary does not respond, its last known position gets old, and the replica is no longer used.
      await this.#lag.mark(this.#primary).catch(() => {});
      await withConnection(this.#checking, (connection) => this.#lag.measure(connection));
      if (!this.#inUse && !this.#closed) this.#log.info('the replica is read');
      this.#reason = '';
      this.#inUse = true;
    } catch (error) {
      this.#disable(error);
    }
    if (!this.#closed) this.#timer = setTimeout(() => void this.#check(), checkEvery).unref();
  }

  #disable(error: unknown): void {
    const reason = toReason(error);
    if (reason !== this.#reason && !this.#closed)
      this.#log.warn({ reason }, 'the replica is not used, the primary is read instead');
    this.#reason = reason;
    this.#inUse = false;
    for (const reject of this.#waiting) reject(new Error(reason));
  }

  #readReplica<T>(work: (on: Queryable) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      const answer = withConnection(this.#reading, async (connection) => {
        if (!this.#lag.isRecent(connection)) await this.#lag.measure(connection);
        return work(connection);
      });
      answer.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }
}

interface PoolOptions {
  readonly name: string;
  readonly connections: number;
  /** The time to wait for a connection, in milliseconds. */
  readonly connectWithin: number;
  readonly answerWithin: number;
}

function openPool(url: string, { name, connections, connectWithin, answerWithin }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: name,
    max: connections,
    connectionTimeoutMillis: connectWithin,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: connectionLife,
    // The server's own limit cancels the statement first. The driver's timeout is for a server that no longer responds.
    statement_timeout: Math.min(5_000, answerWithin),
    query_timeout: answerWithin,
    keepAlive: true,
  });
  // A connection that is lost between two queries emits an error event, which needs a listener.
  pool.on('connect', (connection) => connection.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}

/**
 * Runs several queries on one connection, with the pool's own type of `query`. After an error the connection is closed,
 * except after a Problem, which is thrown between two queries or instead of a failed one.
 */
async function withConnection<T>(pool: pg.Pool, use: (connection: pg.PoolClient) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  try {
    const result = await use(connection);
    connection.release();
    return result;
  } catch (error) {
    connection.release(!(error instanceof Problem));
    throw error;
  }
}
