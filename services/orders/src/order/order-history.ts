// The history of an order: its transitions, and the cancellations of units of its lines.
import type { Caller } from '@shop/shared/auth';
import type { OrderStore } from '../context.ts';
import type { components } from '../generated.ts';
import { noSuchOrder } from './order.ts';
import { ofOrder, waitingForSql } from './order-columns.ts';

export type Transition = components['schemas']['OrderHistory']['items'][number];

interface HistoryRow {
  readonly version: number;
  readonly status: Transition['status'];
  readonly at: Date;
  readonly actor: Transition['by'];
  readonly cancelledLines: Transition['cancelledLines'] | null;
  readonly reason: string | null;
  readonly stockReleased: EffectState | null;
  readonly stockReleasedAt: Date | null;
  readonly customerNotified: EffectState | null;
  readonly customerNotifiedAt: Date | null;
  readonly waitingFor: string | null;
}

type Effect = components['schemas']['Effect'];
type EffectState = Effect['state'];

export interface FoundHistory {
  /** The version of the history. It increases with each change of the order and with each effect of cancelled units. */
  readonly version: number;
  readonly items: readonly Transition[];
}

/**
 * Returns the transitions of an order that this caller may see, oldest first.
 * @throws Problem 404
 */
export async function findHistory({ database }: OrderStore, caller: Caller, orderId: string): Promise<FoundHistory> {
  const readAll = caller.scopes.has('orders:read-all');
  const { rows } = await database.pool.query<HistoryRow>({
    name: readAll ? 'any-history' : 'own-history',
    text: `SELECT orders.version, history.status, history.at, history.actor, cancelled_lines AS "cancelledLines",
             CASE history.status WHEN 'cancelled' THEN orders.cancellation_reason ELSE history.reason END AS reason,
             history.stock_released AS "stockReleased", history.stock_released_at AS "stockReleasedAt",
             history.customer_notified AS "customerNotified", history.customer_notified_at AS "customerNotifiedAt",
             ${waitingForSql('history.customer_notified')} AS "waitingFor"
           FROM orders JOIN order_history AS history ON ${ofOrder('history')}
           WHERE orders.id = $1 ${readAll ? '' : 'AND orders.account_id = $2'}
           ORDER BY history.version`,
    values: readAll ? [orderId] : [orderId, caller.accountId],
  });
  const [first] = rows;
  if (first === undefined) throw noSuchOrder();
  return { version: first.version + rows.reduce((sum, row) => sum + changesOf(row), 0), items: rows.map(itemOf) };
}

const isPending = (state: EffectState | null): boolean => state === null || state === 'pending';

/** Returns the number of changes of the two effects. An effect changes at most twice: `pending`, `failed`, `done`. */
function changesOf({ stockReleased, customerNotified }: HistoryRow): number {
  return [stockReleased, customerNotified].reduce(
    (sum, state) => sum + (isPending(state) ? 0 : state === 'failed' ? 1 : 2),
    0,
  );
}

function itemOf(row: HistoryRow): Transition {
  const { cancelledLines, reason, stockReleased, customerNotified, waitingFor } = row;
  const item = { status: row.status, at: row.at.toISOString(), by: row.actor };
  const why = reason === null ? {} : { reason };
  if (!cancelledLines || !stockReleased || !customerNotified) return { ...item, ...why };
  return {
    ...item,
    cancelledLines,
    ...why,
    stockReleased: effectOf(stockReleased, row.stockReleasedAt),
    customerNotified: {
      ...effectOf(customerNotified, row.customerNotifiedAt),
      ...(waitingFor !== null && { waitingFor }),
    },
  };
}

function effectOf(state: EffectState, at: Date | null): Effect {
  return { state, ...(at !== null && { at: at.toISOString() }) };
}
