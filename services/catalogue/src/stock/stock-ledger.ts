// The stock ledger: enters received and counted units in the transaction of the change. Reservations enter their own
// movements.
import { sql, type Transaction } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';
import { countStock } from './measure-stock.ts';

/** The actor that moved stock, and the request. */
export interface MovementCause {
  readonly actor: 'customer' | 'staff' | 'operator' | 'system';
  /** The account, if the actor is known by one. */
  readonly actorId?: string | undefined;
  /** Absent for the command line and for movements that no request caused. */
  readonly requestId?: string | undefined;
  /** W3C trace context of that request. */
  readonly traceparent?: string | undefined;
  /** The reason in the history of products, such as the import that changed them. */
  readonly reason?: string | undefined;
}

/** Returns the cause of a movement with the member of staff that sent the request. */
export function toStaffCause(request: OperationRequest): MovementCause {
  return {
    actor: 'staff',
    actorId: request.caller?.accountId,
    requestId: request.id,
    traceparent: request.traceparent,
  };
}

export interface Received {
  readonly productId: string;
  /** Negative when units are missing. */
  readonly quantity: number;
  readonly reason?: string | undefined;
  /** The absolute figure, if the writer gave one. */
  readonly counted?: number | undefined;
  /** The expected units on hand, when staff set an absolute figure with one. */
  readonly expected?: number | undefined;
}

/**
 * Records changes of the units on hand in one statement. The caller has made the changes, so it has locked the
 * products. Each product occurs at most once. A quantity of 0 is recorded only for a count with an expected figure.
 */
export async function enterReceived(
  tx: Transaction,
  changes: readonly Received[],
  { actor, actorId, requestId }: MovementCause,
): Promise<void> {
  const real = changes.filter(({ quantity, expected }) => quantity !== 0 || expected !== undefined);
  if (real.length === 0) return;
  await sql(
    tx,
    `INSERT INTO stock_ledger (product_id, kind, quantity, stock_after, promised_after, actor, actor_id, request_id,
       reason, counted, expected)
     SELECT products.id, 'received', change.quantity, stock, reserved + oversold, $6, $7, $8,
       change.reason, change.counted, change.expected
     FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::integer[], $5::integer[])
       AS change(id, quantity, reason, counted, expected)
     JOIN products ON products.id = change.id`,
    [
      real.map(({ productId }) => productId),
      real.map(({ quantity }) => quantity),
      real.map(({ reason }) => reason ?? null),
      real.map(({ counted }) => counted ?? null),
      real.map(({ expected }) => expected ?? null),
      actor,
      actorId ?? null,
      requestId ?? null,
    ],
  );
  const found = real.map(({ quantity }) => ({ quantity: Math.max(quantity, 0) }));
  const lost = real.map(({ quantity }) => ({ quantity: Math.max(-quantity, 0) }));
  countStock(tx, 'received', found);
  countStock(tx, 'missing', lost);
}
