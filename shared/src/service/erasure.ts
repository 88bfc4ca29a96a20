// Erases the personal data of erased accounts from the schema of a service, again and again until nothing can follow.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql, type Transaction } from '../database/index.ts';
import type { Log } from '../runtime/index.ts';

export interface ErasureOptions {
  readonly database: Database;
  readonly log: Log;
  /**
   * Erases what the service keeps of the account. It is called several times.
   * @returns whether all is erased. Otherwise it is called again until it is
   */
  readonly erase: (tx: Transaction, accountId: string) => Promise<boolean>;
}

const lookEvery = 10_000;
/** Seconds after each sweep, for requests and events that were on their way. Then comes the last one. */
const nextSweeps = [60, 3_600, 86_400];
/** Seconds until the next sweep while something has to stay. */
const retryAfter = 300;

/** Records that the account is erased. The loop of any replica does the rest. Another call has no effect. */
export async function recordErasure(tx: Transaction, accountId: string): Promise<void> {
  await sql(tx, 'INSERT INTO erased_accounts (account_id) VALUES ($1) ON CONFLICT DO NOTHING', [accountId]);
}

/** Starts the loop; any number of replicas may run it. The returned function stops it after the account in progress. */
export function startErasing(options: ErasureOptions): () => Promise<void> {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        while (!stop.signal.aborted && (await sweepOne(options))) {}
      } catch (error) {
        options.log.warn({ err: error }, 'erased accounts wait to be swept');
      }
      await sleep(lookEvery, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}

/** Returns whether an account was due. */
export function sweepOne({ database, log, erase }: ErasureOptions): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [due] = await sql<{ accountId: string; sweeps: number }>(
      tx,
      `SELECT account_id AS "accountId", sweeps FROM erased_accounts WHERE next_sweep_at <= now()
       ORDER BY next_sweep_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    );
    if (due === undefined) return false;
    const { accountId, sweeps } = due;
    await sql(tx, 'DELETE FROM idempotency_keys WHERE account_id = $1', [accountId]);
    const isComplete = await erase(tx, accountId);
    const seconds = isComplete ? nextSweeps[sweeps] : retryAfter;
    await sql(
      tx,
      `UPDATE erased_accounts SET sweeps = sweeps + $2, next_sweep_at = now() + $3 * interval '1 second'
       WHERE account_id = $1`,
      [accountId, isComplete ? 1 : 0, seconds ?? null],
    );
    log.info({ account: accountId, isComplete }, 'personal data erased');
    return true;
  });
}
