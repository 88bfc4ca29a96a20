// Deletes what has had its time, once an hour.
import type { Database } from '@shop/shared/database';
import type { Log } from '@shop/shared/runtime';

const every = 3_600_000;

/** A used token is remembered as long as an unused one would have been valid; the audit log is kept for a year. */
export async function prune(database: Database, refreshTokenDays: number): Promise<void> {
  await database.pool.query('DELETE FROM refresh_families WHERE expires_at < now()');
  await database.pool.query("DELETE FROM refresh_tokens WHERE used_at < now() - $1 * interval '1 day'", [
    refreshTokenDays,
  ]);
  await database.pool.query("DELETE FROM audit_log WHERE created_at < now() - interval '1 year'");
}

/** Prunes every hour until the returned function is called. A failure is logged; the next hour tries again. */
export function startPruning(database: Database, refreshTokenDays: number, log: Log): () => void {
  const timer = setInterval(() => {
    prune(database, refreshTokenDays).catch((error: unknown) => log.warn({ err: error }, 'old rows were not deleted'));
  }, every);
  return () => clearInterval(timer);
}
