// Erases the personal data of an account's orders. Products, amounts and the country of the address stay.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { requestIdentity } from '@shop/shared/http';
import type { Erased } from '@shop/shared/service';
import { appendReturnEvent } from '../returns/return-events.ts';
import { lockOrder } from './order.ts';
import { ofOrder } from './order-columns.ts';
import { appendOrderUpdates, type UpdatedOrder } from './order-events.ts';
import { recordCancellation } from './record-cancellation.ts';

/** The maximum number of rows of a table that one call changes. */
const batchSize = 500;

/**
 * Cancels the pending orders, and erases the data of those that are delivered or cancelled. A processing or shipped
 * order retains its address and its customer until it is delivered. The texts of returns are erased in any state.
 */
export async function eraseOrders(tx: Transaction, accountId: string): Promise<Erased> {
  const pending = await cancelPending(tx, accountId);
  const orders = (await sql<{ id: string }>(tx, findOrders, [accountId])).map(({ id }) => id);
  const identity = requestIdentity({});
  const changed = await sql<UpdatedOrder>(tx, eraseRows, [accountId, orders]);
  await appendOrderUpdates(tx, { ...identity, requestId: identity.id }, accountId, changed);
  await sql(tx, eraseHistory, [accountId, orders]);
  const returns = await sql<ErasedReturn>(tx, eraseReturns, [accountId]);
  for (const { orderId, ...rest } of returns) {
    const order = { id: orderId, accountId };
    await appendReturnEvent(tx, identity, { ...rest, order }, 'return.updated.v1', {});
  }
  const events = await sql(tx, eraseEvents, [accountId]);
  if ([pending, orders.length, returns.length, events.length].includes(batchSize)) return 'more';
  await sql(
    tx,
    `DELETE FROM customers WHERE account_id = $1
       AND NOT EXISTS (SELECT FROM orders WHERE account_id = $1 AND NOT ${isFinal})`,
    [accountId],
  );
  const [left] = await sql<{ orders: boolean; events: boolean }>(
    tx,
    `SELECT EXISTS (SELECT FROM orders WHERE account_id = $1 AND NOT ${isFinal}) AS orders,
       EXISTS (SELECT FROM outbox WHERE ${isOfAccount} AND published_at IS NULL AND ${eventHasData}) AS events`,
    [accountId],
  );
  if (left === undefined || left.orders || left.events) return 'waits';
  for (const isAnswer of answersToStaff) await sql(tx, `DELETE FROM idempotency_keys WHERE ${isAnswer}`, [accountId]);
  return 'done';
}

type ErasedReturn = UpdatedOrder & { readonly orderId: string };

/** Counts the rows with personal data of the account in each table. */
export async function countPersonalData(
  pool: Pick<Database['pool'], 'query'>,
  accountId: string,
): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ place: string; rows: number }>(
    `SELECT place, rows FROM (
       SELECT 'orders' AS place, count(*)::int AS rows FROM orders WHERE account_id = $1 AND ${hasData}
       UNION ALL SELECT 'order_history', count(*)::int FROM order_history
         WHERE order_id IN (SELECT id FROM orders WHERE account_id = $1) AND account_id = $1 AND reason IS NOT NULL
       UNION ALL SELECT 'returns', count(*)::int FROM returns WHERE account_id = $1 AND ${returnHasData}
       UNION ALL SELECT 'customers', count(*)::int FROM customers WHERE account_id = $1
       UNION ALL SELECT 'invoices', count(*)::int FROM invoices WHERE account_id = $1 AND body -> 'buyer' IS NOT NULL
       UNION ALL SELECT 'outbox', count(*)::int FROM outbox WHERE ${isOfAccount} AND ${eventHasData}
       UNION ALL SELECT 'idempotency_keys', (
         (SELECT count(*) FROM idempotency_keys WHERE account_id = $1::text)
         ${answersToStaff.map((is) => `+ (SELECT count(*) FROM idempotency_keys WHERE ${is} AND account_id <> $1::text)`).join(' ')})::int
     ) AS places WHERE rows > 0`,
    [accountId],
  );
  return Object.fromEntries(rows.map(({ place, rows: count }) => [place, count]));
}

/** No e-mail is sent to an erased account. */
const nobodyToNotify = `
  customer_notified_at = CASE WHEN customer_notified = 'pending' THEN now() ELSE customer_notified_at END,
  customer_notified = CASE WHEN customer_notified = 'pending' THEN 'failed' ELSE customer_notified END`;
const reasonsOfSystem = "('expired', 'account-erased')";
const isReasonOfSystem = `cancellation_reason IN ${reasonsOfSystem}`;
const isFinal = "status IN ('delivered', 'cancelled')";
const country = "jsonb_strip_nulls(jsonb_build_object('country', shipping_address ->> 'country'))";
const countryOnly = `CASE WHEN shipping_address ->> 'country' IS NOT NULL THEN ${country}::json END`;
const hasData = `(
  (shipping_address IS NOT NULL AND shipping_address::jsonb <> ${country})
  OR tracking IS NOT NULL OR tax_id IS NOT NULL OR (cancellation_reason IS NOT NULL AND NOT ${isReasonOfSystem}))`;
const eventHasData = `(
  data ->> 'shippingAddress' IS NOT NULL OR data ->> 'tracking' IS NOT NULL
  OR data ->> 'reason' NOT IN ${reasonsOfSystem})`;
/** No consumer needs these members. A published event is stored so that it can be published again. */
const withoutPersonalData = `(
  data::jsonb - 'shippingAddress' - 'tracking'
  || CASE WHEN data::jsonb ? 'reason' THEN '{"reason": null}' ELSE '{}' END::jsonb)::json`;

const isOfAccount = `subject IN (
  SELECT id::text FROM orders WHERE account_id = $1 UNION ALL SELECT id::text FROM returns WHERE account_id = $1)`;
const returnHasData = '(comment IS NOT NULL OR refusal_reason IS NOT NULL)';
/**
 * The responses to staff contain the customer, including the stored responses for repeated requests. The expression and
 * the operations are those of the indexes in migrations 0020 and 0033, because PostgreSQL uses them for no others.
 */
const answersToStaff = [
  "'processOrder', 'shipOrder', 'deliverOrder', 'cancelOrder'",
  "'createReturn', 'approveReturn', 'refuseReturn', 'receiveReturn', 'withdrawReturn'",
].map(
  (operations) => `operation_id IN (${operations})
    AND substring(body FROM '"accountId":"([0-9a-f-]{36})"') = $1::text`,
);

const isHistoryWithData = "(h.reason IS NOT NULL OR h.customer_notified = 'pending')";

const findOrders = `
  SELECT id FROM orders
  WHERE account_id = $1 AND ${isFinal} AND (${hasData} OR orders.customer_notified = 'pending' OR EXISTS (
    SELECT FROM order_history AS h WHERE ${ofOrder('h')} AND ${isHistoryWithData}))
  LIMIT ${batchSize}`;

// The version changes, because the response to clients changes.
const eraseRows = `
  UPDATE orders SET shipping_address = ${countryOnly}, tracking = NULL, tax_id = NULL,
    cancellation_reason = CASE WHEN ${isReasonOfSystem} THEN cancellation_reason END, ${nobodyToNotify},
    version = version + 1, updated_at = greatest(now(), updated_at)
  WHERE account_id = $1 AND id = ANY ($2::uuid[])
  RETURNING id, version`;

const eraseHistory = `
  UPDATE order_history AS h SET reason = NULL, ${nobodyToNotify}
  WHERE h.account_id = $1 AND h.order_id = ANY ($2::uuid[]) AND ${isHistoryWithData}`;

// Open returns stay for staff, without the texts.
const eraseReturns = `
  UPDATE returns SET comment = NULL, refusal_reason = NULL, version = version + 1,
    updated_at = greatest(now(), updated_at)
  WHERE account_id = $1 AND id IN (
    SELECT id FROM returns WHERE account_id = $1 AND ${returnHasData} ORDER BY id LIMIT ${batchSize})
  RETURNING id, order_id AS "orderId", version`;

const eraseEvents = `
  UPDATE outbox SET data = ${withoutPersonalData}
  WHERE id IN (
    SELECT id FROM outbox WHERE ${isOfAccount} AND published_at IS NOT NULL AND ${eventHasData}
    ORDER BY id LIMIT ${batchSize} FOR UPDATE)
  RETURNING id`;

/** Cancels at most one batch of pending orders. Returns the number of cancelled orders. */
async function cancelPending(tx: Transaction, accountId: string): Promise<number> {
  const pending = await sql<{ id: string }>(
    tx,
    "SELECT id FROM orders WHERE account_id = $1 AND status = 'pending' ORDER BY id LIMIT $2",
    [accountId, batchSize],
  );
  for (const { id } of pending) {
    const order = await lockOrder(tx, id, undefined);
    if (order.status !== 'pending') continue;
    const cause = { ...requestIdentity({}), caller: undefined };
    await recordCancellation(tx, cause, order, { actor: 'system', reason: 'account-erased' });
  }
  return pending.length;
}
