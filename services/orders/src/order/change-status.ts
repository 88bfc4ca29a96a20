// Changes the state of a locked order: its row and its history in one statement.
import { sql, type Transaction } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';
import type { components } from '../generated.ts';
import { countOrder } from './measure-orders.ts';
import type { LockedOrder } from './order.ts';
import type { OrderStatus } from './order-status.ts';

/** The request that causes a change, and its caller. */
export type Cause = Pick<OperationRequest, 'id' | 'traceparent' | 'caller'>;

/** The actor that changes an order. `system` is the shop itself, which has no account. */
export type Actor = 'customer' | 'staff' | 'system';

/** The carrier and the number of a shipped order. */
export type Tracking = components['schemas']['Tracking'];

export interface StatusChange {
  readonly to: OrderStatus;
  readonly actor: Actor;
  /** The reason of a cancellation. */
  readonly reason?: string | undefined;
  /** The tracking of a shipped order. */
  readonly tracking?: Tracking | undefined;
}

export interface ChangedOrder {
  /** The version after the change. The entity tag and the event's sequence contain it. */
  readonly version: number;
  readonly changedAt: Date;
}

/** Changes the status. The caller has locked the order and has checked that the transition is permitted. */
export async function changeStatus(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  { to, actor, reason, tracking }: StatusChange,
): Promise<ChangedOrder> {
  const [changed] = await sql<ChangedOrder>(
    tx,
    `WITH changed AS (
       UPDATE orders SET
         status = $3::text,
         version = version + 1,
         updated_at = greatest(now(), updated_at),
         cancellation_reason = $4,
         tracking = coalesce($9::json, tracking),
         cancelled_at = CASE WHEN $3 = 'cancelled' THEN greatest(now(), updated_at) END,
         stock_released = CASE WHEN $3 = 'cancelled' THEN 'pending' END,
         customer_notified = CASE WHEN $3 = 'cancelled' THEN 'pending' END
       WHERE id = $1 AND account_id = $2 AND version = $5
       RETURNING id, account_id, version, status, updated_at
     ), history AS (
       INSERT INTO order_history (order_id, account_id, version, status, actor, actor_id, request_id, at)
       SELECT id, account_id, version, status, $6, $7::uuid, $8, updated_at FROM changed
     )
     SELECT version, updated_at AS "changedAt" FROM changed`,
    [
      order.id,
      order.accountId,
      to,
      reason ?? null,
      order.version,
      actor,
      cause.caller?.accountId ?? null,
      cause.id,
      tracking === undefined ? null : JSON.stringify(tracking),
    ],
  );
  if (changed === undefined) throw new Error(`order ${order.id} changed while it was locked`);
  countOrder(tx, to);
  return changed;
}
