// Opens connections for a connection string with several hosts: each one uses the server that accepts writes.
// PostgreSQL's own library does so with `target_session_attrs=read-write`, which the driver `pg` does not support.
import pg from 'pg';
import { parseAddresses, toReason } from '../runtime/index.ts';

/** Milliseconds within which a server must report whether it accepts writes. */
const answerWithin = 2_000;

/**
 * SQL: the timeline of the server, a hexadecimal number that grows at each failover; NULL when the server is read-only.
 */
export const timelineSql = `CASE WHEN current_setting('transaction_read_only') = 'off'
  THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END`;

interface Server {
  readonly host: string;
  readonly port: number;
}

/** The known servers of a connection string. */
interface Cluster {
  /** The server that most recently accepted writes; undefined after a connection to it has failed. */
  primary: Server | undefined;
  /** The search in progress. All connections that are opened meanwhile share its result. */
  search: Promise<Server> | undefined;
  /** The newest timeline that a server had. */
  timeline: number;
  /** The open connections, each with the timeline of its server. */
  readonly open: Map<pg.Client, number>;
}

const clusters = new Map<string, Cluster>();

type Connected = (error: Error | null, client?: pg.Client) => void;

/**
 * A `pg.Client` that connects to the host that accepts writes, if the connection string lists several. When the last
 * connection has failed, all hosts are queried concurrently, and the first that accepts writes is used. A server with
 * an older timeline than another one is a previous primary, which hung while it was replaced. No new connection uses
 * it, and connections to it are closed when the newer one is found.
 */
export class PrimaryClient extends pg.Client {
  readonly #config: pg.ClientConfig;

  constructor(config: pg.ClientConfig = {}) {
    super({ ...config, connectionString: parseAddresses(config.connectionString ?? '')[0] });
    this.#config = config;
    // The connection may fail before its owner adds a listener, and an error event without a listener stops the
    // process.
    this.on('error', () => {});
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    connected.then((client) => callback(null, client), callback);
    return undefined;
  }

  async #connect(): Promise<pg.Client> {
    const { connectionString = '' } = this.#config;
    const addresses = parseAddresses(connectionString);
    if (addresses.length === 1) return super.connect();
    const cluster = clusters.get(connectionString) ?? {
      primary: undefined,
      search: undefined,
      timeline: 0,
      open: new Map(),
    };
    clusters.set(connectionString, cluster);
    try {
      cluster.primary ??= await this.#findPrimary(addresses, cluster);
      this.host = cluster.primary.host;
      this.port = cluster.primary.port;
      await super.connect();
      cluster.open.set(this, await requirePrimary(this, cluster));
      this.once('end', () => cluster.open.delete(this));
      return this;
    } catch (error) {
      cluster.primary = undefined;
      this.end().catch(() => {});
      throw error;
    }
  }

  #findPrimary(addresses: readonly string[], cluster: Cluster): Promise<Server> {
    const ask = async (connectionString: string): Promise<Server> => {
      const limits = { connectionTimeoutMillis: answerWithin, query_timeout: answerWithin };
      const client = new pg.Client({ ...this.#config, connectionString, ...limits });
      client.on('error', () => {}); // the query fails with it
      try {
        await client.connect();
        await requirePrimary(client, cluster);
        return { host: client.host, port: client.port };
      } finally {
        // The end of a connection to a server that hangs is not awaited.
        client.end().catch(() => {});
      }
    };
    cluster.search ??= Promise.any(addresses.map(ask))
      .catch(({ errors }: AggregateError) => {
        const reasons = errors.map((error, index) => `${new URL(addresses[index] ?? '').host}: ${toReason(error)}`);
        throw readOnly(`no host of the list accepts writes: ${reasons.join('; ')}`);
      })
      .finally(() => {
        cluster.search = undefined;
      });
    return cluster.search;
  }
}

/**
 * Returns the timeline of the connected server.
 * @throws Error when the server is read-only or a previous primary
 */
async function requirePrimary(client: pg.Client, cluster: Cluster): Promise<number> {
  const { rows } = await client.query<{ timeline: string | null }>(`SELECT ${timelineSql} AS timeline`);
  const timeline = Number.parseInt(rows[0]?.timeline ?? '', 16);
  if (Number.isNaN(timeline)) throw readOnly('is read-only');
  if (timeline < cluster.timeline) throw readOnly('is a former primary');
  cluster.timeline = timeline;
  for (const [other, older] of cluster.open) if (older < timeline) other.connection.stream.destroy();
  return timeline;
}

/** Returns an error with PostgreSQL's code for a server that accepts no writes. */
function readOnly(message: string): Error {
  return Object.assign(new Error(message), { code: '25006' });
}
