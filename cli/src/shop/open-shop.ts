// Finds the shop of a command, running or stopped, and opens its database for the duration of the command.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type SchemaName, schemas } from '@shop/shared/database';
import { startEmbeddedPostgres } from '@shop/shared/embedded';
import { StartError, toReason } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { type DataFolder, dataFolder, findRunning, type RunningShop, takeFolder } from './data-folder.ts';
import { type DatabaseUrls, migrateAll, namedDatabase, provision } from './database.ts';
import type { Wiring } from './processes.ts';
import { requireEmptyDatabase } from './require-empty.ts';
import { type KeptSecrets, keptSecrets, readSecrets } from './secrets.ts';
import { givenEnvironment, readServiceDatabases, readSettings, type Settings } from './settings.ts';

export interface OpenShop extends Wiring {
  /** The running processes; undefined for a stopped shop, and for a shop that is known only by its database. */
  readonly running: RunningShop | undefined;
}

export interface OpenOptions {
  /** Whether the schemas of a stopped shop are brought up to date first; default true. */
  readonly migrate?: boolean;
}

/**
 * Runs `use` with the shop of the data folder. The embedded database of a stopped shop is started for that time. With
 * DATABASE_URL, or with the connections of all services, `use` gets that shop instead.
 * @throws StartError when the shop does not exist, or is starting or stopping
 */
export async function withShop<T>(use: (shop: OpenShop) => Promise<T>, options: OpenOptions = {}): Promise<T> {
  const given = givenEnvironment();
  const settings = readSettings(given);
  const folder = dataFolder(settings.dataDir);
  const found = { settings, folder, given };
  const running = await findRunning(folder);
  const databases = givenDatabases(settings, given) ?? (running?.databases as DatabaseUrls | undefined);
  if (databases !== undefined) {
    const secrets = { roles: {}, variables: {}, ...(await readSecrets(folder.secrets)) } as KeptSecrets;
    return use({ ...found, running, secrets, databases });
  }
  if (!(await hasShop(folder))) {
    const start = operatorCommand('start');
    throw new StartError(`there is no shop in ${folder.path}: run ${start}, or set SHOP_DATA_DIR or DATABASE_URL`);
  }
  return withOwnServer(folder, async (url) => {
    const secrets = await keptSecrets(folder.secrets);
    const databases = await provision(url, secrets, false);
    if (options.migrate ?? true) await migrateAll(databases);
    return use({ ...found, running, secrets, databases });
  });
}

/**
 * Runs `use` with the database of a new shop, with roles and schemas: an embedded one, which is created when it does
 * not exist, or the one of DATABASE_URL. An outside database must be empty. `use` checks the content of an embedded
 * one.
 * @param secrets the values of the secret environment variables of the new shop
 * @throws StartError when a shop exists or runs there
 */
export async function withNewShop<T>(
  secrets: KeptSecrets['variables'],
  use: (shop: OpenShop) => Promise<T>,
): Promise<T> {
  const given = givenEnvironment();
  const settings = readSettings(given);
  const folder = dataFolder(settings.dataDir);
  if ((await findRunning(folder)) !== undefined) {
    throw new StartError(`a shop runs in ${folder.path}: stop it, and restore into a new one by another SHOP_DATA_DIR`);
  }
  const outsideUrl = settings.databaseUrl;
  const fill = async (url: string): Promise<T> => {
    const own = await keptSecrets(folder.secrets);
    const databases = await provision(url, own, outsideUrl !== undefined);
    const wanted = { ...own, variables: { ...own.variables, ...secrets } };
    return use({ settings, folder, given, running: undefined, secrets: wanted, databases });
  };
  if (outsideUrl === undefined) return withOwnServer(folder, fill);
  if (await hasShop(folder)) {
    throw new StartError(
      `${folder.path} has a shop of its own, with its own secrets: restore with another SHOP_DATA_DIR, ` +
        'or without DATABASE_URL',
    );
  }
  const { release } = await take(folder);
  try {
    // This check runs before the provisioning, which would change the passwords of an existing shop's roles and lock
    // out its services.
    await requireEmptyDatabase(outsideUrl);
    return await fill(outsideUrl);
  } finally {
    await release();
  }
}

/** Returns whether the folder contains an embedded database. */
export async function hasShop(folder: DataFolder): Promise<boolean> {
  return access(join(folder.postgres, 'cluster')).then(
    () => true,
    () => false,
  );
}

async function take(folder: DataFolder): Promise<{ release(): Promise<void> }> {
  return takeFolder(folder).catch((error: Error) => {
    if (!error.message.includes(' is in use by ')) throw error;
    throw new StartError(`${error.message}, which starts or stops the shop: try again in a moment`);
  });
}

async function withOwnServer<T>(folder: DataFolder, use: (adminUrl: string) => Promise<T>): Promise<T> {
  const { release } = await take(folder);
  try {
    const server = await startEmbeddedPostgres({ dataDir: folder.postgres, durable: true }).catch((error: unknown) => {
      throw new StartError(toReason(error));
    });
    try {
      return await use(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    await release();
  }
}

/** Returns the databases that the environment names; undefined when it names none. */
function givenDatabases(settings: Settings, given: NodeJS.ProcessEnv): DatabaseUrls | undefined {
  if (settings.databaseUrl !== undefined) return asEachRole(settings.databaseUrl);
  const ofServices = readServiceDatabases(given);
  if (ofServices === undefined) return undefined;
  if (settings.eventsUrl === undefined) throw new StartError('set EVENTS_URL, too: the address of the events');
  return { ...ofServices, events: settings.eventsUrl };
}

/** Returns an administrator's connection that acts as each role and in its schema, without the roles' passwords. */
function asEachRole(url: string): DatabaseUrls {
  const urlOf = (role: SchemaName): string => {
    const own = new URL(namedDatabase(url));
    own.searchParams.set('options', `-c role=${role} -c search_path=${role}`);
    return own.href;
  };
  return Object.fromEntries(schemas.map((role) => [role, urlOf(role)])) as DatabaseUrls;
}
