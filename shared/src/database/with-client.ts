// A single connection outside the pools.
import type pg from 'pg';
import { PrimaryClient } from './primary-client.ts';

export interface ClientOptions {
  /** A connection string. If it lists several hosts, the connection is made to the one that accepts writes. */
  readonly url: string;
  /** The application name of the connection in PostgreSQL. */
  readonly name?: string;
  /** The time to wait for the connection, in milliseconds; default 0: the time-out of the operating system. */
  readonly connectWithin?: number;
  /** The time to wait for the result of a query, in milliseconds; default 0: no limit. */
  readonly queryWithin?: number;
}

/**
 * Runs `use` with a connection, and closes it afterwards.
 * @throws the driver's error when the connection fails, and the error of `use`
 */
export async function withClient<T>(
  { url, name, connectWithin = 0, queryWithin = 0 }: ClientOptions,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new PrimaryClient({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectWithin,
    query_timeout: queryWithin,
    keepAlive: true,
  });
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
