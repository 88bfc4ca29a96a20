// The metrics of imports over HTTP.
import type { Database } from '@shop/shared/database';
import { observe, sharedRead } from '@shop/shared/telemetry';

interface Imports {
  readonly waiting: number;
  /** Seconds since the oldest of the waiting and running imports was accepted; 0 when there is none. */
  readonly age: number;
  readonly failed: number;
}

// Each part reads one index, which contains at most the imports of the last seven days.
const imports = `
  SELECT count(*)::int AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age,
    (SELECT count(*)::int FROM import_jobs WHERE status = 'failed' AND ended_at > now() - interval '1 hour') AS failed
  FROM import_jobs WHERE ended_at IS NULL`;

/** Observes how many imports wait or run, since when the oldest does, and how many failed in the last hour. */
export function observeImports({ pool }: Database): void {
  const read = sharedRead(async () => (await pool.query<Imports>(imports)).rows[0]);
  const waiting = { unit: '{import}', description: 'Imports over HTTP that wait or run.' };
  observe('shop.imports.waiting', waiting, async (tell) => tell((await read())?.waiting ?? 0));
  const age = { unit: 's', description: 'Time since the oldest import that waits or runs was accepted.' };
  observe('shop.imports.age', age, async (tell) => tell((await read())?.age ?? 0));
  const failed = { unit: '{import}', description: 'Imports over HTTP that failed in the last hour.' };
  observe('shop.imports.failed', failed, async (tell) => tell((await read())?.failed ?? 0));
}
