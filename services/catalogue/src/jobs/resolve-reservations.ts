// Resolves expired reservations: queries their final state in the orders service, and confirms or releases them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@shop/shared/database';
import { type InternalClient, requestIdentity } from '@shop/shared/http';
import type { Log } from '@shop/shared/runtime';
import { confirmReservations, lockReservation, releaseStock } from '../stock/reservation.ts';

export interface ResolvingOptions {
  readonly database: Database;
  readonly orders: InternalClient;
  readonly log: Log;
}

interface DueReservation {
  readonly id: string;
  readonly accountId: string;
}

const lookEvery = 1_000;
const batchSize = 20;

// A claim postpones the next request beyond any timeout, so another replica sends it only when this one has died.
// Repeating the request is harmless. No row stays locked while the orders service is called.
const claim = `
  UPDATE reservations SET settle_at = now() + interval '10 seconds'
  WHERE id IN (
    SELECT id FROM reservations WHERE state = 'held' AND settle_at <= now()
    ORDER BY settle_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED
  )
  RETURNING id, account_id AS "accountId"`;

/**
 * Starts the loop; any number of replicas may run it. The returned function stops it and waits for the batch in
 * progress.
 */
export function startResolving(options: ResolvingOptions): () => Promise<void> {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const due = await resolveDue(options).catch((error: unknown) => {
        options.log.warn({ err: error }, 'reservations wait to be resolved');
        return 0;
      });
      if (due < batchSize) await sleep(lookEvery, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}

/**
 * Resolves one batch. A reservation without a response stays reserved, and a later run calls the orders service again.
 */
async function resolveDue(options: ResolvingOptions): Promise<number> {
  const { rows } = await options.database.pool.query<DueReservation>(claim);
  await Promise.all(
    rows.map((reservation) =>
      resolve(options, reservation).catch((error: unknown) => {
        options.log.warn({ err: error, reservation: reservation.id }, 'a reservation could not be resolved yet');
      }),
    ),
  );
  return rows.length;
}

async function resolve({ database, orders, log }: ResolvingOptions, { id, accountId }: DueReservation): Promise<void> {
  const question = { reservationId: id, accountId };
  const { status, body } = await orders.post('/internal/reservations/settle', question, requestIdentity({}));
  const answer = body as { state: 'exists'; orderId: string } | { state: 'absent' };
  if (status !== 200) throw new Error(`orders answered ${status}`);
  await database.transaction(async (tx) => {
    const reservation = await lockReservation(tx, id);
    if (reservation?.state !== 'held') return;
    if (answer.state === 'exists') await confirmReservations(tx, [{ reservationId: id, orderId: answer.orderId }]);
    if (answer.state === 'absent') await releaseStock(tx, id, null, { actor: 'system' });
  });
  log.info({ reservation: id, state: answer.state }, 'reservation resolved');
}
