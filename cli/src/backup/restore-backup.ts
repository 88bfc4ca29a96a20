// Restores a backup into an empty shop, and compares the restored rows with the backup.
import { join } from 'node:path';
import { knownMigrations, migrate } from '@shop/shared/database';
import { StartError } from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { type DatabaseUrls, migrateAll } from '../shop/database.ts';
import { requireEmpty } from '../shop/require-empty.ts';
import { root } from '../shop/root.ts';
import { copyIn, copyOut, findTables, sameText, type Table } from '../shop/tables.ts';
import { type ArchivedSchema, type ArchivedTable, computeChecksum, type Manifest, readRows } from './archive.ts';

const migrationsOf = (name: ServiceName): string => join(root, 'services', name, 'migrations');

/** @throws StartError when the backup needs services or migrations that this version of the shop does not have */
export async function requireKnownMigrations(manifest: Manifest): Promise<void> {
  const names = new Set<string>(serviceNames);
  const others = Object.keys(manifest.schemas).filter((name) => !names.has(name));
  if (others.length > 0) throw newer(`it has the services ${others.join(', ')}`);
  for (const { name, schema } of schemasOf(manifest)) {
    const known = await knownMigrations(migrationsOf(name));
    const unknown = schema.migrations.filter((migration) => !known.includes(migration));
    if (unknown.length > 0) throw newer(`${name} has ${unknown.join(', ')}`);
  }
}

function newer(difference: string): StartError {
  return new StartError(`the backup is of a newer version of the shop (${difference}): restore it with that one`);
}

/** Returns the services of the backup. The tables of a service that was added later stay empty. */
function schemasOf({ schemas }: Manifest): { readonly name: ServiceName; readonly schema: ArchivedSchema }[] {
  return serviceNames.flatMap((name) => {
    const schema = schemas[name];
    return schema === undefined ? [] : [{ name, schema }];
  });
}

export interface RestoreHooks {
  readonly onTable: (done: number, total: number) => void;
  /** Called in the transaction when everything is restored and compared. */
  readonly beforeCommit?: () => Promise<void>;
}

/**
 * Restores all schemas, or none of them. Stored events become unpublished and are published again, because the backup
 * does not contain the queues. Consumers recognise events that they have handled by their inbox.
 * @returns how many events will be published again
 * @throws StartError when a table is not empty, or the restored rows differ from the backup
 */
export async function restoreBackup(
  databases: DatabaseUrls,
  folder: string,
  manifest: Manifest,
  { onTable, beforeCommit }: RestoreHooks,
): Promise<number> {
  // Applies migrations up to the last one of the backup, so that its rows fit. The other migrations run after the rows
  // are restored.
  const schemas = schemasOf(manifest);
  for (const { name, schema } of schemas)
    await migrate({ url: databases[name], folder: migrationsOf(name), only: schema.migrations });
  const clients = schemas.map(({ name, schema }) => ({
    name,
    schema,
    client: new pg.Client({ connectionString: databases[name], application_name: 'restore' }),
  }));
  const total = schemas.flatMap(({ schema }) => schema.tables).length;
  let done = 0;
  let toldAgain = 0;
  try {
    for (const { name, client } of clients) {
      client.on('error', () => {}); // the statement in work fails with it
      await client.connect();
      await client.query('BEGIN');
      await client.query(sameText);
      await requireEmpty(client, name);
    }
    for (const { name, schema, client } of clients) {
      const { tables, sequences } = schema;
      const found = await requireSameTables(client, name, schema);
      for (const table of tables) {
        await restoreTable(client, folder, name, { ...found(table.name), columns: table.columns }, table);
        done += 1;
        onTable(done, total);
      }
      for (const [sequence, last] of Object.entries(sequences)) {
        await client.query('SELECT setval($1::regclass, $2)', [pg.escapeIdentifier(sequence), last]);
      }
      const { rowCount } = await client.query(
        'UPDATE outbox SET published_at = NULL, next_attempt_at = now(), problem = NULL WHERE published_at IS NOT NULL',
      );
      toldAgain += rowCount ?? 0;
      // Followers of changes may have seen what the backup does not have, so their cursors expire.
      if (name === 'changes') await client.query('UPDATE feed SET epoch = gen_random_uuid()');
      // Events that were handled before the backup stay in the inbox until their redeliveries have arrived.
      await client.query(
        "UPDATE inbox SET taken_at = now() WHERE taken_at > (SELECT max(taken_at) FROM inbox) - interval '4 days'",
      );
    }
    await beforeCommit?.();
    await commitAll(clients);
  } finally {
    await Promise.all(clients.map(({ client }) => client.end().catch(() => {})));
  }
  await migrateAll(databases);
  return toldAgain;
}

/**
 * Commits the transactions of all schemas. A session that was lost before is found before the first of them commits.
 * @throws StartError when a session is lost while they commit, so that only some schemas are restored
 */
async function commitAll(
  clients: readonly { readonly name: ServiceName; readonly client: pg.Client }[],
): Promise<void> {
  for (const { client } of clients) await client.query('SELECT');
  for (const [index, { name, client }] of clients.entries()) {
    await client.query('COMMIT').catch((cause: Error) => {
      const committed = clients.slice(0, index).map((each) => each.name);
      if (committed.length === 0) throw cause;
      throw new StartError(
        `The connection of ${name} was lost while it committed (${cause.message}): only ${committed.join(', ')} are certainly ` +
          'restored. Restore again, into an empty database or another SHOP_DATA_DIR.',
        { cause },
      );
    });
  }
}

async function requireSameTables(
  client: pg.Client,
  schema: ServiceName,
  { tables }: ArchivedSchema,
): Promise<(name: string) => Table> {
  const found = new Map((await findTables(client)).map((table) => [table.name, table]));
  const missing = tables.filter(({ name }) => !found.has(name)).map(({ name }) => name);
  if (missing.length > 0) throw new StartError(`${schema} has no table ${missing.join(', ')}, but the backup has`);
  return (name) => found.get(name) as Table;
}

/** @throws StartError when restored rows are missing or differ */
async function restoreTable(
  client: pg.Client,
  folder: string,
  schema: ServiceName,
  table: Table,
  archived: ArchivedTable,
): Promise<void> {
  // Triggers are disabled, because they would write rows again that the backup already contains.
  const name = pg.escapeIdentifier(table.name);
  await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  const into = client.query(copyFrom(copyIn(table)));
  const read = await readRows(folder, schema, table.name, into);
  await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
  const back = client.query(copyTo(copyOut(table)));
  const restored = await computeChecksum(back);
  const rows = into.rowCount;
  if (read === archived.sha256 && restored === archived.sha256 && rows === archived.rows) return;
  throw new StartError(
    `${schema}.${table.name} was not restored as it was: ${rows} of ${archived.rows} rows, or other content. ` +
      'Nothing was kept.',
  );
}
