// The shop's database and its schemas: created where they are missing, and migrated.
import { join } from 'node:path';
import { migrate, provisionDatabase, type SchemaName } from '@shop/shared/database';
import { StartError, serviceNames } from '@shop/shared/runtime';
import type { KeptSecrets } from './secrets.ts';
import { root } from './settings.ts';

export type DatabaseUrls = Readonly<Record<SchemaName, string>>;

/** How long a command waits for a connection, in milliseconds. */
export const connectWithin = 5_000;

/** The database's name, unless DATABASE_URL names another one. */
const usualName = 'shop';

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
export async function provision(url: string, secrets: KeptSecrets, outside: boolean): Promise<DatabaseUrls> {
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
  const migrations = serviceNames.map(async (name) => {
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
