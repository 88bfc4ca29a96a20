// Listeners on pg-boss: a login role and a view of the jobs of one queue. pg-boss itself needs rights on the jobs of all queues,
// so a listener consumes with SQL.
import pg from 'pg';
import { withClient } from '../../database/index.ts';
import { passwordVerifier } from '../../database/password-verifier.ts';
import { StartError } from '../../runtime/index.ts';
import { type Listener, type ListenerStore, listenerExists } from '../listener.ts';
import { listenerQueue } from './subscriptions.ts';

export interface PgBossListenerOptions {
  /** The schema of pg-boss. */
  readonly namespace: string;
  /** A connection to its database as a role that may create roles and act as the owner of the schema. */
  readonly adminUrl: string;
}

/** Seconds for which an event waits in the queue of a listener that does not consume it. */
const keptSeconds = 7 * 24 * 60 * 60;

const connectWithin = 5_000;
const [duplicateObject, noPermission] = ['42710', '42501'];

export function pgBossListeners({ namespace, adminUrl }: PgBossListenerOptions): ListenerStore {
  const quoted = (name: string): string => pg.escapeIdentifier(name);
  const schema = quoted(namespace);
  const viewOf = (name: string): string => `listener_${name}`;
  const roleOf = (name: string): string => `${namespace}_listener_${name}`;

  /** Runs the work in a transaction of the administrator. */
  const transaction = <T>(work: (client: pg.Client, owner: string) => Promise<T>): Promise<T> =>
    withClient({ url: adminUrl, name: 'listeners', connectWithin }, async (client) => {
      const { rows } = await client.query<{ owner: string }>(
        `SELECT nspowner::regrole::text AS owner FROM pg_namespace
         WHERE nspname = $1 AND to_regclass(format('%I.subscription', nspname)) IS NOT NULL`,
        [namespace],
      );
      const [found] = rows;
      if (found === undefined) throw new StartError(`the database has no queues in ${namespace}: start the shop first`);
      await client.query('BEGIN');
      const result = await work(client, found.owner);
      await client.query('COMMIT');
      return result;
    }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== noPermission) throw error;
      throw new StartError(
        `the database refuses (${(error as Error).message}): DATABASE_URL must be an administrator's`,
      );
    });

  return {
    add: (name, types, password) =>
      transaction(async (client, owner) => {
        const [role, view, database] = [
          quoted(roleOf(name)),
          `${schema}.${quoted(viewOf(name))}`,
          client.database ?? '',
        ];
        const login = `LOGIN PASSWORD ${pg.escapeLiteral(passwordVerifier(password))}`;
        await client.query(`CREATE ROLE ${role} ${login}`).catch((error: { code?: unknown }) => {
          throw error.code === duplicateObject ? listenerExists(name) : error;
        });
        await client.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${role};
          ALTER ROLE ${role} IN DATABASE ${quoted(database)} SET search_path = ${schema};
          SET LOCAL ROLE ${owner}`);
        const settings = { policy: 'standard', retentionSeconds: keptSeconds };
        const queue = listenerQueue(name);
        await client.query(`SELECT ${schema}.create_queue($1, $2)`, [queue, settings]);
        await client.query(`INSERT INTO ${schema}.subscription (event, name) SELECT unnest($1::text[]), $2`, [
          types,
          queue,
        ]);
        // UPDATE of a column permits FOR UPDATE SKIP LOCKED. A changed id changes only what the listener itself reads.
        await client.query(`CREATE VIEW ${view} WITH (security_barrier) AS
            SELECT id, created_on AS added_at, (data ->> 'content')::json AS event FROM ${schema}.job
            WHERE name = ${pg.escapeLiteral(queue)} AND state = 'created';
          GRANT USAGE ON SCHEMA ${schema} TO ${role};
          GRANT SELECT, DELETE, UPDATE (id) ON ${view} TO ${role}`);
        return { queue: viewOf(name), user: roleOf(name) };
      }),
    list: () =>
      transaction(async (client) => {
        const { rows } = await client.query<Listener>(
          `SELECT substr(q.name, length($1) + 1) AS name,
             ARRAY(SELECT event FROM ${schema}.subscription s WHERE s.name = q.name ORDER BY 1) AS types,
             (SELECT count(*)::int FROM ${schema}.job j WHERE j.name = q.name AND state = 'created') AS backlog
           FROM ${schema}.queue q WHERE starts_with(q.name, $1)`,
          [listenerQueue('')],
        );
        return rows;
      }),
    remove: (name) =>
      transaction(async (client, owner) => {
        const role = quoted(roleOf(name));
        const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [roleOf(name)]);
        if (rowCount === 0) return false;
        await client.query(`SET LOCAL ROLE ${owner};
          DROP VIEW IF EXISTS ${schema}.${quoted(viewOf(name))};
          REVOKE USAGE ON SCHEMA ${schema} FROM ${role}`);
        await client.query(`SELECT ${schema}.delete_queue($1)`, [listenerQueue(name)]);
        await client.query(`RESET ROLE;
          REVOKE CONNECT ON DATABASE ${quoted(client.database ?? '')} FROM ${role};
          DROP ROLE ${role}`);
        return true;
      }),
  };
}
