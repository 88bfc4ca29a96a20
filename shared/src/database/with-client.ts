// One connection for a piece of work, beside the pools.
import pg from 'pg';

export interface ClientOptions {
  readonly url: string;
  /** Shown by PostgreSQL beside the connection. */
  readonly name?: string;
  /** How long to wait for the connection, in milliseconds; default 0: as long as the system tries. */
  readonly connectWithin?: number;
}

/**
 * Runs `use` with a connection that is ended after it.
 * @throws the driver's error when there is no connection, and the error of `use`
 */
export async function withClient<T>(
  { url, name, connectWithin = 0 }: ClientOptions,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectWithin,
  });
  client.on('error', () => {}); // the query in work fails with it
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
