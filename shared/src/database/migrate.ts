// Applies numbered SQL files in order. Each is applied once, in a transaction that also inserts its version row. Only
// the statements of a file `….concurrently.sql` run outside a transaction, because PostgreSQL requires that of them.
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { checkLocale } from './check-locale.ts';
import { errorCode } from './pg-errors.ts';
import { withClient } from './with-client.ts';

export interface MigrateOptions {
  /** The connection string of the role that owns the schema. */
  readonly url: string;
  /** The folder with the service's `0001_….sql` files. The tables that every service has are created first. */
  readonly folder: string;
  /** Applies only migrations with these names; default all. */
  readonly only?: readonly string[];
}

interface Migration {
  readonly name: string;
  readonly path: string;
}

const sharedFolder = fileURLToPath(new URL('../../migrations', import.meta.url));
/**
 * Milliseconds that a migration waits for a lock on a table. Requests that need the table wait after it, so it then
 * aborts and is retried.
 */
const lockTimeout = 1_000;
/** Milliseconds before the next attempt. Requests that have waited are executed in this time. */
const pauseBetween = 1_000;
const attempts = 300;
/** The lock timeout, and a deadlock with a transaction of the services. */
const passing = new Set(['55P03', '40P01']);

const versionTable =
  'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz(3) NOT NULL DEFAULT now())';

async function migrationsOf(folder: string): Promise<Migration[]> {
  const lists = await Promise.all(
    [sharedFolder, folder].map(async (each) =>
      (await readdir(each))
        .filter((file) => /^\d{4}_.*\.sql$/.test(file))
        .sort()
        .map((file) => ({ name: each === sharedFolder ? `shared/${file}` : basename(file), path: join(each, file) })),
    ),
  );
  return lists.flat();
}

/**
 * Applies the missing migrations and returns their names. Of two concurrent calls, one waits for the other. A migration
 * that does not get a lock within a second is rolled back and repeated, for ten minutes.
 * @throws StartError when the encoding of the database is not UTF8
 * @throws the error of the first statement that failed; earlier migrations stay applied
 */
export async function migrate({ url, folder, only }: MigrateOptions): Promise<string[]> {
  return withClient({ url, name: 'migrate' }, async (client) => {
    await checkLocale(client);
    await untilAlone(client);
    await client.query(versionTable);
    // The module is loaded here, because only some processes apply migrations. Each service saves 20 MB of memory.
    const { Umzug } = await import('umzug');
    const umzug = new Umzug({
      migrations: (await migrationsOf(folder))
        .filter(({ name }) => only?.includes(name) ?? true)
        .map(({ name, path }) => ({ name, up: () => applyWhenUnlocked(client, name, path) })),
      storage: {
        executed: () => applied(client),
        logMigration: async () => {}, // the row is written in the migration's own transaction
        unlogMigration: async () => {},
      },
      logger: undefined,
    });
    return (await umzug.up()).map(({ name }) => name);
  });
}

/** Returns the names of all migrations that the folder defines for a service's schema, in their order. */
export async function knownMigrations(folder: string): Promise<string[]> {
  return (await migrationsOf(folder)).map(({ name }) => name);
}

/** Returns the names of the migrations in the folder that the schema still lacks. */
export async function pendingMigrations(pool: pg.Pool, folder: string): Promise<string[]> {
  const { rows } = await pool.query<{ exists: boolean }>("SELECT to_regclass('migrations') IS NOT NULL AS exists");
  const done = new Set(rows[0]?.exists === true ? await applied(pool) : []);
  return (await migrationsOf(folder)).map(({ name }) => name).filter((name) => !done.has(name));
}

async function applied(client: pg.Client | pg.Pool): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY name');
  return rows.map(({ name }) => name);
}

/**
 * Waits until no other process applies migrations to the schema. It polls, because CREATE INDEX CONCURRENTLY of the
 * other process would wait for the end of a statement that waits here.
 */
async function untilAlone(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      "SELECT pg_try_advisory_lock(hashtextextended('migrate ' || current_schema(), 0)) AS locked",
    );
    if (rows[0]?.locked === true) return;
    await sleep(200);
  }
}

async function applyWhenUnlocked(client: pg.Client, name: string, path: string): Promise<void> {
  const run = name.endsWith('.concurrently.sql') ? applyConcurrently : apply;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run(client, name, path);
    } catch (error) {
      if (attempt === attempts || !passing.has(errorCode(error) ?? '')) throw error;
      await sleep(pauseBetween);
    }
  }
}

/** Splits a file `….concurrently.sql`. A statement ends with a semicolon at the end of its line. */
export function concurrentStatements(text: string): string[] {
  return text.split(/;[ \t]*$/m);
}

/** Runs each statement on its own. */
async function applyConcurrently(client: pg.Client, name: string, path: string): Promise<void> {
  const statements = concurrentStatements(await readFile(path, 'utf8'));
  for (const statement of statements) await client.query(statement);
  await client.query('INSERT INTO migrations (name) VALUES ($1)', [name]);
}

async function apply(client: pg.Client, name: string, path: string): Promise<void> {
  const statements = await readFile(path, 'utf8');
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${lockTimeout}`);
    await client.query('INSERT INTO migrations (name) VALUES ($1)', [name]);
    await client.query(statements);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
