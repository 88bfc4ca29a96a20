// Finds the shop that a command is about, running or not, and lends its database to the command.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type SchemaName, schemas, startEmbeddedPostgres } from '@shop/shared/embedded';
import { StartError } from '@shop/shared/runtime';
import { dataFolder, findRunning, type RunningShop, takeFolder } from './data-folder.ts';
import { type DatabaseUrls, migrateAll, provision } from './database.ts';
import type { Wiring } from './processes.ts';
import { keptSecrets, readSecrets } from './secrets.ts';
import { givenEnvironment, readSettings } from './settings.ts';

export interface AttachedShop extends Wiring {
  /** What runs; undefined for a stopped shop, and for one that only DATABASE_URL tells of. */
  readonly running: RunningShop | undefined;
}

/**
 * Runs `use` with the shop of the data folder. The embedded database of a stopped shop is started for that time. With
 * DATABASE_URL it is that database instead.
 * @throws StartError when there is no shop, or it is just starting or stopping
 */
export async function withShop<T>(use: (shop: AttachedShop) => Promise<T>): Promise<T> {
  const given = givenEnvironment();
  const settings = readSettings(given);
  const folder = dataFolder(settings.dataDir);
  const found = { settings, folder, given };
  const running = await findRunning(folder);
  if (settings.databaseUrl !== undefined || running !== undefined) {
    const databases = settings.databaseUrl === undefined ? running?.databases : asEachRole(settings.databaseUrl);
    const secrets = { roles: {}, variables: {}, ...(await readSecrets(folder.secrets)) } as Wiring['secrets'];
    return use({ ...found, running, secrets, databases: databases as DatabaseUrls });
  }
  await access(join(folder.postgres, 'cluster')).catch(() => {
    throw new StartError(`there is no shop in ${folder.path}: run npm start, or set SHOP_DATA_DIR or DATABASE_URL`);
  });
  const { release } = await takeFolder(folder).catch((error: Error) => {
    throw new StartError(`${error.message}, which starts or stops the shop: try again in a moment`);
  });
  try {
    const server = await startEmbeddedPostgres({ dataDir: folder.postgres, durable: true }).catch((error: Error) => {
      throw new StartError(error.message);
    });
    try {
      const secrets = await keptSecrets(folder.secrets);
      const databases = await provision(server.url, secrets, false);
      await migrateAll(databases);
      return await use({ ...found, running, secrets, databases });
    } finally {
      await server.stop();
    }
  } finally {
    await release();
  }
}

/** An administrator's connection that acts as each role and in its schema, without the roles' passwords. */
function asEachRole(url: string): DatabaseUrls {
  const urlOf = (role: SchemaName): string => {
    const own = new URL(url);
    own.searchParams.set('options', `-c role=${role} -c search_path=${role}`);
    return own.href;
  };
  return Object.fromEntries(schemas.map((role) => [role, urlOf(role)])) as DatabaseUrls;
}
