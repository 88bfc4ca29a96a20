// Reads orders for the comparison with the other services after a failover.
import type { Database } from '@shop/shared/database';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { ofOrder } from '../order-columns.ts';
import type { OrderStatus } from '../order-status.ts';
import { resolveToOrder } from '../resolve-reservation.ts';
import type { OrderedUnits } from '../stock-reservation.ts';

export interface OrderReference {
  readonly orderId: string;
  readonly accountId: string;
  readonly reservationId: string;
}

export interface KnownOrder extends OrderReference {
  readonly status: OrderStatus;
  /** The units that the order has. */
  readonly lines: readonly OrderedUnits[];
  /** Every state that the order has had. */
  readonly statuses: readonly OrderStatus[];
  readonly isPaid: boolean;
  /** Whether a payment was received that did not pay the order. */
  readonly isOverpaid: boolean;
  readonly isRefunded: boolean;
  /** Whether the catalogue had no reservation to release when the order was cancelled. */
  readonly hasFailedRelease: boolean;
}

const batchSize = 1_000;
const lowestId = '00000000-0000-0000-0000-000000000000';
const reference = 'id AS "orderId", account_id AS "accountId", reservation_id AS "reservationId"';

const changed = `
  SELECT ${reference}, updated_at::text AS at FROM orders
  WHERE updated_at <= $3::timestamptz AND (updated_at, id) > ($1::timestamptz, $2::uuid)
  ORDER BY updated_at, id LIMIT ${batchSize}`;

/**
 * Calls `use` with the orders that were placed or changed since a time, in batches. Of `environment` only DATABASE_URL
 * is read.
 */
export function eachChangedOrder(
  environment: Environment,
  since: string,
  use: (orders: readonly OrderReference[]) => Promise<void>,
): Promise<void> {
  return inDatabase(environment, async ({ pool }) => {
    const { rows: clock } = await pool.query<{ now: string }>('SELECT now()::text AS now');
    for (let [at, id] = [since, lowestId]; ; ) {
      const { rows } = await pool.query<OrderReference & { at: string }>(changed, [at, id, clock[0]?.now]);
      const last = rows.at(-1);
      if (last === undefined) return;
      await use(rows);
      [at, id] = [last.at, last.orderId];
    }
  });
}

const ledgerHas = (condition: string): string =>
  `EXISTS (SELECT FROM payment_ledger AS movement WHERE ${ofOrder('movement')} AND ${condition})`;

/** The orders with these ids that exist. Of `environment` only DATABASE_URL is read. */
export function readKnownOrders(environment: Environment, ids: readonly string[]): Promise<KnownOrder[]> {
  return inDatabase(environment, async ({ pool }) => {
    const { rows } = await pool.query<KnownOrder>(
      `SELECT ${reference}, status,
         (SELECT coalesce(json_agg(json_build_object('productId', product_id,
            'quantity', quantity - cancelled_quantity)), '[]')
          FROM order_lines AS line WHERE ${ofOrder('line')} AND quantity > cancelled_quantity) AS lines,
         (SELECT json_agg(history.status) FROM order_history AS history WHERE ${ofOrder('history')}) AS statuses,
         ${ledgerHas("kind = 'received' AND cause = 'order-paid'")} AS "isPaid",
         ${ledgerHas("kind = 'received' AND cause <> 'order-paid'")} AS "isOverpaid",
         ${ledgerHas("kind = 'refunded'")} AS "isRefunded",
         stock_released IS NOT DISTINCT FROM 'failed' AS "hasFailedRelease"
       FROM orders WHERE id = ANY ($1::uuid[])`,
      [ids],
    );
    return rows;
  });
}

/**
 * Returns the reservations that are decided, with the order that has each; null when none has it and none ever will. Of
 * `environment` only DATABASE_URL is read.
 */
export function readFences(environment: Environment, ids: readonly string[]): Promise<Map<string, string | null>> {
  return inDatabase(environment, async ({ pool }) => {
    const { rows } = await pool.query<{ id: string; orderId: string | null }>(
      'SELECT id, order_id AS "orderId" FROM reservations WHERE id = ANY ($1::uuid[])',
      [ids],
    );
    return new Map(rows.map(({ id, orderId }) => [id, orderId]));
  });
}

/**
 * Decides that no order has a reservation, as the catalogue asks for one that expires. Of `environment` only
 * DATABASE_URL is read.
 * @returns the order that has it after all; null when none has it and none ever will
 */
export function resolveLostOrder(
  environment: Environment,
  reservation: Pick<OrderReference, 'reservationId' | 'accountId'>,
): Promise<string | null> {
  return inDatabase(environment, (database) => resolveToOrder(database, reservation));
}

/** Account → the version of which orders has a copy. Of `environment` only DATABASE_URL is read. */
export function readCustomerVersions(environment: Environment, ids: readonly string[]): Promise<Map<string, number>> {
  return inDatabase(environment, async ({ pool }) => {
    const { rows } = await pool.query<{ id: string; version: number }>(
      'SELECT account_id AS id, sequence::int AS version FROM customers WHERE account_id = ANY ($1::uuid[])',
      [ids],
    );
    return new Map(rows.map(({ id, version }) => [id, version]));
  });
}

function inDatabase<T>(environment: Environment, use: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'doctor' }, use);
}
