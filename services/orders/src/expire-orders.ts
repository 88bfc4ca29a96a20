// Cancels orders that have been pending for too long.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@shop/shared/database';
import { requestIdentity } from '@shop/shared/http';
import type { Log } from '@shop/shared/runtime';
import { lockOrder } from './order.ts';
import { recordCancellation } from './record-cancellation.ts';

export interface ExpiryOptions {
  readonly database: Database;
  /** Hours for which an order may be pending; 0 for any time. */
  readonly pendingHours: number;
  readonly log: Log;
}

interface DueOrder {
  readonly id: string;
  readonly createdAt: Date;
}

const lookEvery = 10_000;
const batchSize = 100;

const findCutoff = "SELECT now() - $1 * interval '1 hour' AS cutoff";

const findDue = `
  SELECT id, created_at AS "createdAt" FROM orders
  WHERE status = 'pending' AND created_at < $1 AND (created_at, id) > ($2, $3)
  ORDER BY created_at, id LIMIT ${batchSize}`;

const lowestId = '00000000-0000-0000-0000-000000000000';

/** Starts the loop; any number of replicas may run it. The returned function stops it and waits for the order in progress. */
export function startExpiring(options: ExpiryOptions): () => Promise<void> {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    // The first pass reads all orders, and later ones those that became due since the last complete pass.
    let since = new Date(0);
    while (!stop.signal.aborted) {
      try {
        since = await expireDue(options, since, stop.signal);
      } catch (error) {
        options.log.warn({ err: error }, 'expired orders wait to be cancelled');
      }
      await sleep(lookEvery, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const running = options.pendingHours === 0 ? undefined : run();
  return async () => {
    stop.abort();
    await running;
  };
}

/** How far before the end of a complete pass the next one begins: a transaction may commit its order this late. */
const margin = 3_600_000;

/** Cancels all orders that are due and were created after `since`. Returns the `since` of the next pass. */
async function expireDue(
  { database, pendingHours, log }: ExpiryOptions,
  since: Date,
  signal: AbortSignal,
): Promise<Date> {
  const { rows } = await database.pool.query<{ cutoff: Date }>(findCutoff, [pendingHours]);
  const cutoff = rows[0]?.cutoff ?? since;
  let last: DueOrder = { id: lowestId, createdAt: since };
  while (!signal.aborted) {
    const { rows: due } = await database.pool.query<DueOrder>(findDue, [cutoff, last.createdAt, last.id]);
    for (const { id } of due) {
      if (signal.aborted) return since;
      if (await expireOrder(database, id)) log.info({ order: id }, 'order expired');
    }
    last = due.at(-1) ?? last;
    if (due.length < batchSize) return new Date(cutoff.getTime() - margin);
  }
  return since;
}

/** Whether the order was still pending, and is cancelled now. */
async function expireOrder(database: Database, id: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    const order = await lockOrder(tx, id, undefined);
    if (order.status !== 'pending') return false;
    const cause = { ...requestIdentity({}), caller: undefined };
    await recordCancellation(tx, cause, order, { actor: 'system', reason: 'expired' });
    return true;
  });
}
