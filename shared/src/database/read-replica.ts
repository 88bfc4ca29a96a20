// Reads that may be a little old: they go to a replica while it is near enough to the primary, and to the primary otherwise.
import pg from 'pg';
import { Problem } from '../problem/index.ts';
import type { Log } from '../runtime/index.ts';
import { connectionLife } from './connect.ts';
import { errorCode } from './pg-errors.ts';
import { type Queryable, ReplicaLag } from './replica-lag.ts';

export interface ReadReplica {
  /**
   * Runs `work` where the data is at most the configured time old. It runs a second time, on the primary, when anything but a
   * Problem goes wrong on the replica: it must only read. What it throws on the primary is thrown.
   */
  read<T>(work: (on: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ReadReplicaOptions {
  /** Where a replica answers, or several of them behind one address. */
  readonly replicaUrl: string;
  readonly primary: pg.Pool;
  /** How old what is read may be, in milliseconds; at least 1000. */
  readonly maximumLag: number;
  /** Shown by PostgreSQL beside each connection. */
  readonly name: string;
  readonly log: Log;
}

const lookEvery = 500;
const conflictWithReplay = '40001';

/**
 * Opens connections to the replica. A look at primary and replica twice a second tells whether reads go there. Every connection
 * also proves for itself where its server stands, before its first read and whenever the last proof is too old, because behind
 * one address there may be several replicas. A replica that is away, hangs or is behind costs no read: what waits for it
 * turns to the primary. The first look that finds it well again brings it back.
 */
export function openReadReplica(options: ReadReplicaOptions): ReadReplica {
  const { replicaUrl, primary, maximumLag, name, log } = options;
  const reading = openPool(replicaUrl, { name, connections: 10, connectWithin: 3_000, answerWithin: 6_000 });
  const looking = openPool(replicaUrl, { name, connections: 1, connectWithin: 1_000, answerWithin: 1_000 });
  const lag = new ReplicaLag(maximumLag);
  const waiting = new Set<(reason: Error) => void>();
  let inUse = false;
  let said = '';
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function passOver(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason !== said && !closed) log.warn({ reason }, 'the replica is passed over, the primary is read instead');
    said = reason;
    inUse = false;
    for (const giveUp of waiting) giveUp(new Error(reason));
  }

  async function look(): Promise<void> {
    try {
      // While the primary does not answer its last position grows old, and the replica with it.
      await lag.mark(primary).catch(() => {});
      await withConnection(looking, (connection) => lag.measure(connection));
      if (!inUse && !closed) log.info('the replica is read');
      said = '';
      inUse = true;
    } catch (error) {
      passOver(error);
    }
    if (!closed) timer = setTimeout(() => void look(), lookEvery).unref();
  }

  function readReplica<T>(work: (on: Queryable) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      waiting.add(reject);
      const answer = withConnection(reading, async (connection) => {
        if (!lag.isRecent(connection)) await lag.measure(connection);
        return work(connection);
      });
      answer.then(resolve, reject).finally(() => waiting.delete(reject));
    });
  }

  void look();
  return {
    async read(work) {
      if (!inUse) return work(primary);
      try {
        return await readReplica(work);
      } catch (error) {
        if (error instanceof Problem) throw error;
        // A query that stood in the way of the replay says nothing about the replica.
        if (inUse && errorCode(error) !== conflictWithReplay) passOver(error);
        return work(primary);
      }
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await Promise.all([reading.end(), looking.end()]);
    },
  };
}

interface PoolOptions {
  readonly name: string;
  readonly connections: number;
  /** Milliseconds. */
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
    // The server's own bound comes first; the other one is for a server that says nothing any more.
    statement_timeout: Math.min(5_000, answerWithin),
    query_timeout: answerWithin,
    keepAlive: true,
  });
  // A connection that is lost between two queries tells it by an event that somebody has to hear.
  pool.on('connect', (connection) => connection.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}

/** As the pool's own `query`, for several queries on one connection: after an error the connection is not used again. */
async function withConnection<T>(pool: pg.Pool, use: (connection: pg.PoolClient) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  try {
    const result = await use(connection);
    connection.release();
    return result;
  } catch (error) {
    connection.release(true);
    throw error;
  }
}
