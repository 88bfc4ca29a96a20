// Approves, refuses or withdraws a locked return, and publishes the event.
import { sql, type Transaction } from '@shop/shared/database';
import { idempotent, type OperationRequest, type Result, requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { OrderStore } from '../context.ts';
import type { Cause } from '../order/change-status.ts';
import { type LockedReturn, lockReturn, type ReturnLine, requireReturnVersion, showReturn, textFor } from './return.ts';
import { appendReturnEvent } from './return-events.ts';
import { mayReturnBecome, type ReturnStatus } from './return-status.ts';

export type Change = (tx: Transaction, cause: Cause, present: LockedReturn) => Promise<void>;

/**
 * Makes a change of a return and shows the return.
 * @param by the callers that may change it
 * @throws Problem 404 for a return that the caller may not change, 412 when `If-Match` is stale
 */
export async function withReturn(
  request: OperationRequest,
  context: OrderStore,
  by: 'staff' | 'owner or staff',
  change: Change,
): Promise<Result> {
  const caller = requireCaller(request);
  const { returnId = '' } = request.path;
  const owner = by === 'staff' || caller.scopes.has('orders:fulfil') ? undefined : caller.accountId;
  return idempotent(request, context, async (tx) => {
    const present = await lockReturn(tx, returnId, owner);
    requireReturnVersion(request, present);
    await change(tx, request, present);
    return showReturn(tx, context.returns, caller, present);
  });
}

export const approve: Change = (tx, cause, present) => change(tx, cause, present, 'approved');

export const withdraw: Change = (tx, cause, present) => change(tx, cause, present, 'withdrawn');

/** @param reason for the customer */
export const refuseFor =
  (reason: string): Change =>
  (tx, cause, present) =>
    change(tx, cause, present, 'refused', reason);

/** A return that is already in the state stays unchanged, and no event is published. */
async function change(
  tx: Transaction,
  cause: Cause,
  present: LockedReturn,
  to: Exclude<ReturnStatus, 'requested' | 'received'>,
  reason?: string,
): Promise<void> {
  if (!isToBecome(present, to)) return;
  const refusalReason = await textFor(tx, present.accountId, reason);
  const { version, changedAt } = await updateReturn(tx, present, { status: to, refusalReason });
  const data = { lines: [...present.lines], changedAt: changedAt.toISOString() };
  const changed = { ...present, version };
  if (to === 'refused') {
    await appendReturnEvent(tx, cause, changed, 'return.refused.v1', { ...data, reason: refusalReason });
  } else {
    await appendReturnEvent(tx, cause, changed, `return.${to}.v1`, data);
  }
}

/**
 * Returns whether the return has yet to make the transition.
 * @throws Problem 409 for a transition that is not in the table
 */
export function isToBecome({ status }: LockedReturn, to: ReturnStatus): boolean {
  if (status === to) return false;
  if (mayReturnBecome(status, to)) return true;
  throw new Problem('invalid-transition', `A return that is ${status} cannot become ${to}.`);
}

interface NewState {
  readonly status: ReturnStatus;
  readonly refusalReason?: string | null;
  readonly lines?: readonly ReturnLine[];
  readonly refundMinor?: number | undefined;
  /** Whether units go back into the stock. */
  readonly isRestocked?: boolean;
}

export async function updateReturn(
  tx: Transaction,
  { id, accountId, lines }: LockedReturn,
  state: NewState,
): Promise<{ readonly version: number; readonly changedAt: Date }> {
  const [changed] = await sql<{ version: number; changedAt: Date }>(
    tx,
    `UPDATE returns SET status = $3, refusal_reason = $4, lines = $5::json, refund_minor = $6, stock_returned = $7,
       version = version + 1, updated_at = greatest(now(), updated_at)
     WHERE id = $1 AND account_id = $2 RETURNING version, updated_at AS "changedAt"`,
    [
      id,
      accountId,
      state.status,
      state.refusalReason ?? null,
      JSON.stringify(state.lines ?? lines),
      state.refundMinor ?? null,
      state.isRestocked === true ? 'pending' : null,
    ],
  );
  if (changed === undefined) throw new Error(`return ${id} is not locked`);
  return changed;
}
