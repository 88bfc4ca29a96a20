// Takes a backup of a running or stopped shop: all schemas at one moment, each read as its own role.
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '@shop/shared/database';
import { StartError } from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { withCleanUp } from '../shop/clean-up.ts';
import type { OpenShop } from '../shop/open-shop.ts';
import { copyOut, findSequences, findTables, sameText } from '../shop/tables.ts';
import {
  type ArchivedSchema,
  type ArchivedTable,
  type Manifest,
  sealArchive,
  secretsFile,
  writeRows,
} from './archive.ts';

/**
 * Writes the backup to a new folder, which appears when it is complete.
 * @param onTable called for each table that is written
 * @throws StartError when the folder exists or cannot be written
 */
export async function takeBackup(
  shop: OpenShop,
  folder: string,
  onTable: (done: number, total: number) => void,
): Promise<Manifest> {
  if (await stat(folder).catch(() => undefined)) throw isThere(folder);
  let making: Promise<string> | undefined;
  const work = async (): Promise<Manifest> => {
    making = partialFolder(folder);
    const partial = await making;
    const manifest = await withSnapshot(shop.databases, (clients, takenAt) =>
      readAll(clients, takenAt, partial, onTable),
    );
    // The secrets decrypt the signing keys in the database and the cursors, and validate the idempotency keys.
    const { variables } = shop.secrets;
    await writeFile(join(partial, secretsFile), JSON.stringify({ variables }), { mode: 0o600, flush: true });
    await sealArchive(partial, manifest);
    await rename(partial, folder).catch((error: NodeJS.ErrnoException) => {
      // Another backup was faster.
      throw error.code === 'ENOTEMPTY' ? isThere(folder) : error;
    });
    return manifest;
  };
  return withCleanUp(work, async () => {
    // After a success, the folder has the other name. A table may be written while a signal stops the process.
    const partial = await making?.catch(() => undefined);
    if (partial !== undefined) await rm(partial, { recursive: true, force: true, maxRetries: 5 });
  });
}

const isThere = (folder: string) => new StartError(`${folder} is there already: name a new folder`);

/** Makes a folder beside the given one. Each backup has its own, because two may be taken to the same folder. */
async function partialFolder(folder: string): Promise<string> {
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    return await mkdtemp(`${folder}.partial-`);
  } catch (error) {
    throw new StartError(`cannot write ${folder} (${(error as NodeJS.ErrnoException).code}): name another folder`);
  }
}

type Clients = Readonly<Record<ServiceName, pg.Client>>;

/** Opens a connection for each schema. All of them see the database as of the same moment. */
async function withSnapshot<T>(
  databases: OpenShop['databases'],
  use: (clients: Clients, takenAt: Date) => Promise<T>,
): Promise<T> {
  const clients = Object.fromEntries(
    serviceNames.map((name) => [
      name,
      new pg.Client({ connectionString: databases[name], application_name: 'backup' }),
    ]),
  ) as Record<ServiceName, pg.Client>;
  try {
    for (const client of Object.values(clients)) {
      client.on('error', () => {}); // the statement in work fails with it
      await client.connect();
    }
    const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY';
    const [first, ...others] = serviceNames;
    await clients[first].query(begin);
    const { rows } = await clients[first].query<{ snapshot: string; now: Date }>(
      'SELECT pg_export_snapshot() AS snapshot, clock_timestamp() AS now',
    );
    const { snapshot = '', now = new Date(0) } = rows[0] ?? {};
    for (const name of others) {
      await clients[name].query(begin);
      await clients[name].query(`SET TRANSACTION SNAPSHOT ${pg.escapeLiteral(snapshot)}`).catch(refuseSeveralDatabases);
    }
    return await use(clients, now);
  } finally {
    await Promise.all(Object.values(clients).map((client) => client.end().catch(() => {})));
  }
}

/** Rejects several databases, because a snapshot can only be used in the database that exported it. */
function refuseSeveralDatabases(error: unknown): never {
  if (!['0A000', '22023', '42704'].includes(errorCode(error) ?? '')) throw error;
  throw new StartError('the services have databases of their own: back up each of them with pg_dump');
}

async function readAll(
  clients: Clients,
  takenAt: Date,
  folder: string,
  onTable: (done: number, total: number) => void,
): Promise<Manifest> {
  const schemaOf = async (name: ServiceName) => ({ name, tables: await findTables(clients[name]) });
  // A service that was added with an update has no tables before its first start.
  const found = (await Promise.all(serviceNames.map(schemaOf))).filter(({ tables }) => tables.length > 0);
  const total = found.flatMap(({ tables }) => tables).length;
  let done = 0;
  const schemas: Partial<Record<ServiceName, ArchivedSchema>> = {};
  for (const { name, tables } of found) {
    const client = clients[name];
    await client.query(sameText);
    const archived: ArchivedTable[] = [];
    for (const table of tables) {
      const rows = client.query(copyTo(copyOut(table)));
      const sha256 = await writeRows(folder, name, table.name, rows);
      archived.push({ name: table.name, columns: table.columns, rows: rows.rowCount, sha256 });
      done += 1;
      onTable(done, total);
    }
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY name');
    schemas[name] = {
      migrations: rows.map((row) => row.name),
      tables: archived,
      sequences: await findSequences(client),
    };
  }
  return { format: 'shop backup 1', takenAt: takenAt.toISOString(), schemas };
}
