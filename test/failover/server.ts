// A PostgreSQL server with an asynchronous replica, behind a proxy that leads to the primary.
import { withClient } from '@shop/shared/database';
import { eventually, type ReplicatedPostgres, startReplicatedPostgres } from '@shop/shared/testing';
import pg from 'pg';
import { startSwitchableProxy } from '../differential/switchable-proxy.ts';

export interface FailoverServer {
  /** The superuser's connection string of the proxy. */
  readonly adminUrl: string;
  /** A pool of the superuser over the proxy. */
  readonly admin: pg.Pool;
  /** Makes statements that need the lock wait, from the primary's point of view. Returns the function that releases it. */
  hold(statement: string): Promise<() => Promise<void>>;
  /** Resolves when the replica has a row for the query. */
  untilReplicated(query: string, values?: readonly unknown[]): Promise<void>;
  /** From now on, the replica receives no commits. */
  beginLoss(): Promise<void>;
  /** Ends the primary and promotes the replica. The commits since `beginLoss` are lost. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** @param database the name of the database, which the caller creates */
export async function startFailoverServer(database: () => string): Promise<FailoverServer> {
  const postgres: ReplicatedPostgres = await startReplicatedPostgres();
  const port = (url: string): number => Number(new URL(url).port);
  const proxy = await startSwitchableProxy(port(postgres.primaryUrl));
  const at = (url: string, changes: { port?: string; pathname?: string }): string =>
    Object.assign(new URL(url), changes).href;
  const adminUrl = at(postgres.primaryUrl, { port: String(proxy.port) });
  let primaryUrl = postgres.primaryUrl;
  let pool: pg.Pool | undefined;
  const held = new Set<pg.Client>();
  return {
    adminUrl,
    get admin() {
      if (pool === undefined) {
        const connectionString = at(adminUrl, { pathname: `/${database()}` });
        pool = new pg.Pool({ connectionString, max: 2, options: '-c search_path=orders' });
        pool.on('error', () => {});
      }
      return pool;
    },
    async hold(statement) {
      const client = new pg.Client(at(primaryUrl, { pathname: `/${database()}` }));
      client.on('error', () => {});
      await client.connect();
      held.add(client);
      await client.query('BEGIN');
      await client.query(statement);
      return async () => {
        held.delete(client);
        await client.end();
      };
    },
    untilReplicated: (query, values = []) =>
      eventually(
        () =>
          withClient({ url: at(postgres.replicaUrl, { pathname: `/${database()}` }) }, async (client) => {
            const { rowCount } = await client.query(query, [...values]);
            if (rowCount === 0) throw new Error(`the replica has no row of ${query}`);
          }),
        15_000,
      ),
    beginLoss: () => postgres.killReplica(),
    async failOver() {
      await postgres.failOver();
      for (const client of held) await client.end().catch(() => {});
      primaryUrl = postgres.replicaUrl;
      proxy.switchTo(port(primaryUrl));
    },
    async stop() {
      await pool?.end();
      await proxy.close();
      await postgres.stop();
    },
  };
}
