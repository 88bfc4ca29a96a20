// Holds a starting service back until its schema is as its code expects it.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Log } from '../runtime/index.ts';
import { pendingMigrations } from './migrate.ts';

const askEvery = 500;

/**
 * Resolves once every migration of the folder is applied. Until then, and while the database is away, it asks again twice a
 * second: a service that starts before its database or its migrations is late, not broken. Says once what it waits for.
 */
export async function untilMigrated(pool: pg.Pool, folder: string, log: Log): Promise<void> {
  let said = '';
  for (;;) {
    const waitsFor = await pendingMigrations(pool, folder).then(
      (pending) => (pending.length === 0 ? '' : `migrations are missing: ${pending.join(', ')}; run src/migrate.ts`),
      (error: unknown) => `the database does not answer: ${error instanceof Error ? error.message : String(error)}`,
    );
    if (waitsFor === '') return;
    if (waitsFor !== said) log.warn(waitsFor);
    said = waitsFor;
    await sleep(askEvery);
  }
}
