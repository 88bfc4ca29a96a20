// Erases the personal data of erased accounts from the schema of a service. It repeats this until no more data can
// arrive.
import { type Database, sql, type Transaction } from '../database/index.ts';
import { type Log, startRepeating } from '../runtime/index.ts';

export interface ErasureOptions {
  readonly database: Database;
  readonly log: Log;
  /**
   * Erases the data of the account, or a part of it, within a second or two. It is called again until it returns
   * `done`, and several times afterwards.
   */
  readonly erase: Erase;
}

/** `more`: a part of it is erased. `waits`: the rest cannot be erased yet. */
export type Erased = 'done' | 'more' | 'waits';
export type Erase = (tx: Transaction, accountId: string) => Promise<Erased>;

const lookEvery = 10_000;
/** Seconds after each sweep, because requests and events may still be in progress. Then the last sweep follows. */
const nextSweeps = [60, 3_600, 86_400];
/** Seconds until the next sweep while some data cannot be erased yet, and after a failure. */
const retryAfter = 120;

/** Records that the account is erased. The loop of any replica erases its data. A repeated call has no effect. */
export async function recordErasure(tx: Transaction, accountId: string): Promise<void> {
  await sql(tx, 'INSERT INTO erased_accounts (account_id) VALUES ($1) ON CONFLICT DO NOTHING', [accountId]);
}

/**
 * Starts the erasure loop, which any number of replicas may run. The returned function stops it after the current
 * account.
 */
export function startErasing(options: ErasureOptions): () => Promise<void> {
  return startRepeating(
    lookEvery,
    async (signal) => {
      while (!signal.aborted && (await sweepOne(options))) {}
    },
    (error) => options.log.warn({ err: error }, 'erased accounts wait to be swept'),
  );
}

/**
 * Erases the data of one account. Returns whether an account was due. One that cannot be erased is rescheduled, so that
 * it does not block the others.
 */
async function sweepOne(options: ErasureOptions): Promise<boolean> {
  const { pool } = options.database;
  const { rows } = await pool.query<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM erased_accounts WHERE next_sweep_at <= now()
     ORDER BY next_sweep_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  const [due] = rows;
  if (due === undefined) return false;
  const { accountId } = due;
  try {
    await sweep(options, accountId);
  } catch (error) {
    options.log.warn({ err: error, account: accountId }, 'an erased account waits to be swept');
    await pool.query(
      "UPDATE erased_accounts SET next_sweep_at = now() + $2 * interval '1 second' WHERE account_id = $1",
      [accountId, retryAfter],
    );
  }
  return true;
}

function sweep({ database, log, erase }: ErasureOptions, accountId: string): Promise<void> {
  return database.transaction(async (tx) => {
    const [due] = await sql<{ sweeps: number }>(
      tx,
      'SELECT sweeps FROM erased_accounts WHERE account_id = $1 AND next_sweep_at <= now() FOR UPDATE SKIP LOCKED',
      [accountId],
    );
    if (due === undefined) return;
    await sql(tx, 'DELETE FROM idempotency_keys WHERE account_id = $1', [accountId]);
    const erased = await erase(tx, accountId);
    const isDone = erased === 'done';
    const seconds = { done: nextSweeps[due.sweeps] ?? null, more: 0, waits: retryAfter }[erased];
    await sql(
      tx,
      `UPDATE erased_accounts SET sweeps = sweeps + $2, next_sweep_at = now() + $3 * interval '1 second'
       WHERE account_id = $1`,
      [accountId, isDone ? 1 : 0, seconds],
    );
    if (erased !== 'more') log.info({ account: accountId, isDone }, 'personal data erased');
  });
}
