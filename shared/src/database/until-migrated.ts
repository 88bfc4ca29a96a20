// Delays the start of a service until its database is writable and its schema has the version that the code expects.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, toReason } from '../runtime/index.ts';
import type { Database } from './connect.ts';
import { pendingMigrations } from './migrate.ts';

const askEvery = 500;

/**
 * Resolves when every migration of the folder is applied. Until then, it checks again twice a second, also while the
 * database is unavailable or read-only: a service may start before its database and its migrations. Logs each reason
 * for waiting once.
 */
export async function untilMigrated(database: Database, folder: string, log: Log): Promise<void> {
  let logged = '';
  for (;;) {
    const reason = await reasonToWait(database, folder);
    if (reason === undefined) return;
    if (reason !== logged) log.warn(reason);
    logged = reason;
    await sleep(askEvery);
  }
}

async function reasonToWait(database: Database, folder: string): Promise<string | undefined> {
  try {
    await database.ping();
    const pending = await pendingMigrations(database.pool, folder);
    return pending.length === 0 ? undefined : `migrations are missing: ${pending.join(', ')}; run src/migrate.ts`;
  } catch (error) {
    return `the database cannot be used: ${toReason(error)}`;
  }
}
