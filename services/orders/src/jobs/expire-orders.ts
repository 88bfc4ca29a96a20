// Cancels orders that were not paid in time, or that have been pending for too long.
import type { Database } from '@shop/shared/database';
import { requestIdentity } from '@shop/shared/http';
import { type Log, startRepeating } from '@shop/shared/runtime';
import { lockOrder } from '../order/order.ts';
import { findPayment, type OrderPayment } from '../order/order-payment.ts';
import { recordCancellation } from '../order/record-cancellation.ts';
import { unverifiedTimeShare } from '../order/time-limits.ts';

export interface ExpiryOptions {
  readonly database: Database;
  /** The maximum number of hours for which an order may be pending; 0 for no limit. */
  readonly pendingHours: number;
  readonly log: Log;
}

interface DueOrder {
  readonly id: string;
  /** The time at which it was created, or its payment became due. */
  readonly at: Date;
}

const lookEvery = 10_000;
const batchSize = 100;

const findCutoff = "SELECT now() - $1 * interval '1 hour' AS cutoff";

/** The query that finds the orders to cancel, and the condition that a locked order must meet. */
interface Rule {
  readonly find: string;
  isExpired(payment: OrderPayment | undefined): boolean;
}

const pendingTooLong: Rule = {
  find: `
  SELECT id, created_at AS at FROM orders
  WHERE status = 'pending' AND created_at < $1 AND (created_at, id) > ($2, $3)
  ORDER BY created_at, id LIMIT ${batchSize}`,
  // When the customer has paid, the delay is the shop's, and the order stays.
  isExpired: (payment) => payment?.status !== 'paid',
};

const pendingUnverified: Rule = {
  find: `
  SELECT id, created_at AS at FROM orders JOIN customers USING (account_id)
  WHERE status = 'pending' AND NOT email_verified AND created_at < $1 AND (created_at, id) > ($2, $3)
  ORDER BY created_at, id LIMIT ${batchSize}`,
  isExpired: (payment) => payment?.status !== 'paid',
};

export const unpaid: Rule = {
  find: `
  SELECT order_id AS id, due_at AS at FROM order_payments
  WHERE status = 'due' AND due_at <= $1 AND (due_at, order_id) > ($2, $3)
  ORDER BY due_at, order_id LIMIT ${batchSize}`,
  // No amount is due any more when the remaining units are free.
  isExpired: (payment) => payment?.status === 'due',
};

const lowestId = '00000000-0000-0000-0000-000000000000';

/**
 * Starts the loop; any number of replicas may run it. The returned function stops the loop and waits for the order in
 * progress.
 */
export function startExpiring(options: ExpiryOptions): () => Promise<void> {
  // The first pass reads all pending orders, and later ones those that became due since the last complete pass.
  let since = new Date(0);
  let unverifiedSince = new Date(0);
  return startRepeating(
    lookEvery,
    async (signal) => {
      await expireUnpaid(options, signal);
      if (options.pendingHours === 0) return;
      since = await expirePending(options, pendingTooLong, 1, since, signal);
      unverifiedSince = await expirePending(options, pendingUnverified, unverifiedTimeShare, unverifiedSince, signal);
    },
    (error) => options.log.warn({ err: error }, 'expired orders wait to be cancelled'),
  );
}

/** Milliseconds by which passes overlap, because a transaction may commit its order this late. */
const margin = 3_600_000;

/** Cancels all orders that were not paid in time. */
async function expireUnpaid(options: ExpiryOptions, signal: AbortSignal): Promise<void> {
  const { rows } = await options.database.pool.query<{ cutoff: Date }>(findCutoff, [0]);
  await expireFound(options, unpaid, rows[0]?.cutoff ?? new Date(0), new Date(0), signal);
}

/**
 * Cancels all orders that are pending for too long and were created after `since`. Returns the `since` of the next
 * pass.
 */
async function expirePending(
  options: ExpiryOptions,
  rule: Rule,
  share: number,
  since: Date,
  signal: AbortSignal,
): Promise<Date> {
  const { rows } = await options.database.pool.query<{ cutoff: Date }>(findCutoff, [options.pendingHours * share]);
  const cutoff = rows[0]?.cutoff ?? since;
  const isComplete = await expireFound(options, rule, cutoff, since, signal);
  return isComplete ? new Date(cutoff.getTime() - margin) : since;
}

/** Cancels the orders that the rule finds between two times, page by page. Returns whether all pages were processed. */
async function expireFound(
  { database, log }: ExpiryOptions,
  rule: Rule,
  until: Date,
  since: Date,
  signal: AbortSignal,
): Promise<boolean> {
  let last: DueOrder = { id: lowestId, at: since };
  while (!signal.aborted) {
    const { rows: due } = await database.pool.query<DueOrder>(rule.find, [until, last.at, last.id]);
    for (const { id } of due) {
      if (signal.aborted) return false;
      if (await expireOrder(database, id, rule)) log.info({ order: id }, 'order expired');
    }
    last = due.at(-1) ?? last;
    if (due.length < batchSize) return true;
  }
  return false;
}

/** Cancels an order if it is pending and the rule still applies. Returns whether it was cancelled. */
export async function expireOrder(database: Database, id: string, { isExpired }: Rule): Promise<boolean> {
  return database.transaction(async (tx) => {
    const order = await lockOrder(tx, id, undefined);
    if (order.status !== 'pending') return false;
    if (!isExpired(await findPayment(tx, order))) return false;
    const cause = { ...requestIdentity({}), caller: undefined };
    await recordCancellation(tx, cause, order, { actor: 'system', reason: 'expired' });
    return true;
  });
}
