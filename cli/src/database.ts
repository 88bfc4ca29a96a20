// The shop's database: the embedded server, or an outside one when DATABASE_URL is set; provisioned, migrated.
import { join } from 'node:path';
import { migrate, provisionDatabase, type SchemaName } from '@shop/shared/database';
import { type EmbeddedPostgres, freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { StartError } from '@shop/shared/runtime';
import type { Run } from './part.ts';
import type { Secrets } from './secrets.ts';
import { services } from './services.ts';
import { root } from './settings.ts';

export type DatabaseUrls = Readonly<Record<SchemaName, string>>;

/** How long a command waits for a connection, in milliseconds. */
export const connectWithin = 5_000;

/** The database's name, unless DATABASE_URL names another one. */
const usualName = 'shop';

/** A run of the embedded server; started again it listens on the same port, so the services find it. */
export async function embeddedServer(dataDir: string): Promise<{ launch(): Run; url(): Promise<string> }> {
  const [port = 0] = await freePorts(1);
  let latest: Promise<EmbeddedPostgres> | undefined;
  return {
    launch() {
      const server = startEmbeddedPostgres({ dataDir, port, durable: true });
      latest = server;
      return {
        ready: server.then(
          () => {},
          (error: Error) => Promise.reject(new StartError(error.message)),
        ),
        ended: server.then(
          (running) => running.ended.then(() => 'PostgreSQL has stopped'),
          (error: Error) => error.message,
        ),
        stop: () =>
          server.then(
            (running) => running.stop(),
            () => {}, // there is nothing to stop
          ),
      };
    },
    async url() {
      if (latest === undefined) throw new Error('the embedded server was not launched');
      return (await latest).url;
    },
  };
}

/** DATABASE_URL with the name of the shop's database in it, which it may leave out. */
export function namedDatabase(url: string): string {
  const named = new URL(url);
  if (named.pathname.length <= 1) named.pathname = `/${usualName}`;
  return named.href;
}

/**
 * Makes database, roles and schemas where they are missing.
 * @param outside whether the URL is the operator's own
 * @throws StartError when the server is away or refuses
 */
export async function provision(url: string, secrets: Secrets, outside: boolean): Promise<DatabaseUrls> {
  const database = outside ? decodeURIComponent(new URL(namedDatabase(url)).pathname.slice(1)) : usualName;
  const roles = secrets.roles;
  try {
    return await provisionDatabase({ adminUrl: url, database, roles }).catch((error: unknown) => {
      // The database that the URL names may be the one to make; every server has one called postgres.
      if ((error as { code?: string }).code !== '3D000') throw error;
      return provisionDatabase({
        adminUrl: Object.assign(new URL(url), { pathname: '/postgres' }).href,
        database,
        roles,
      });
    });
  } catch (error) {
    throw new StartError(`cannot prepare the database on ${new URL(url).host}: ${describe(error)}`);
  }
}

/** Brings the schemas of all services up to date, side by side. */
export async function migrateAll(urls: DatabaseUrls): Promise<void> {
  const migrations = services.map(async (name) => {
    try {
      await migrate({ url: urls[name], folder: join(root, 'services', name, 'migrations') });
    } catch (error) {
      throw new StartError(`cannot migrate the schema ${name}: ${describe(error)}`);
    }
  });
  await Promise.all(migrations);
}

/** One line; several addresses that were tried come as an AggregateError without a message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error instanceof Error ? (error.message.split('\n')[0] ?? error.name) : String(error);
}
