// Creates the database of the shop and its schemas, and migrates them.
import { join } from 'node:path';
import { migrate, provisionDatabase, type SchemaName } from '@shop/shared/database';
import { StartError, toReason } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { root } from './root.ts';
import type { KeptSecrets } from './secrets.ts';

export type DatabaseUrls = Readonly<Record<SchemaName, string>>;

/** Milliseconds for which a command waits for a connection. */
export const connectWithin = 5_000;

/** The database's name, unless DATABASE_URL names another one. */
const usualName = 'shop';

/** DATABASE_URL with the name of the shop's database, which it may omit. */
export function namedDatabase(url: string): string {
  const named = new URL(url);
  if (named.pathname.length <= 1) named.pathname = `/${usualName}`;
  return named.href;
}

/**
 * Creates the missing database, roles and schemas.
 * @param outside whether the URL is DATABASE_URL
 * @throws StartError when the server is unavailable or rejects a statement
 */
export async function provision(url: string, secrets: KeptSecrets, outside: boolean): Promise<DatabaseUrls> {
  const database = outside ? decodeURIComponent(new URL(namedDatabase(url)).pathname.slice(1)) : usualName;
  const roles = secrets.roles;
  try {
    return await provisionDatabase({ adminUrl: url, database, roles }).catch((error: unknown) => {
      // The URL may name the database that is to be created. Every server has a database `postgres`.
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

/** Migrates the schemas of all services concurrently. */
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

/** Returns the error as one line. */
function describe(error: unknown): string {
  return toReason(error).split('\n', 1).join();
}
