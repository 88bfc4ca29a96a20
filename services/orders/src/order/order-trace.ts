// The history of an order in the orders service, for operators.
import type { Queryable } from '@shop/shared/database';
import { eventHistory, type HistoryStep } from '@shop/shared/events';
import { sortSteps } from '@shop/shared/trace';
import { ofOrder } from './order-columns.ts';

export interface OrderTrace {
  readonly orderId: string;
  readonly accountId: string;
  readonly reservationId: string;
  readonly status: string;
  /** The transitions, and the events about the order and its returns, by time. */
  readonly steps: readonly HistoryStep[];
}

const transitions = `
  SELECT 'transition' AS kind, at, request_id AS "requestId", history.status, history.version::int AS version, actor,
    actor_id AS "actorId", cancelled_lines AS "cancelledLines",
    concat_ws(' ', coalesce('cancelled ' || cancelled.units || ', still ' || history.status, history.status),
      'by', actor, actor_id) AS what
  FROM orders JOIN order_history AS history ON ${ofOrder('history')} LEFT JOIN LATERAL (
    SELECT string_agg((line ->> 'quantity') || ' of ' || (line ->> 'name'), ', ') AS units
    FROM json_array_elements(cancelled_lines) AS line
  ) AS cancelled ON true
  WHERE orders.id = $1 ORDER BY history.version`;

/** Returns undefined when the order does not exist. */
export async function readOrderTrace(from: Queryable, orderId: string): Promise<OrderTrace | undefined> {
  const { rows } = await from.query<Omit<OrderTrace, 'steps'>>(
    `SELECT id AS "orderId", account_id AS "accountId", reservation_id AS "reservationId", status
     FROM orders WHERE id = $1`,
    [orderId],
  );
  const [order] = rows;
  if (order === undefined) return undefined;
  const history = await from.query<HistoryStep>(transitions, [orderId]);
  const subjects = await from.query<{ id: string }>('SELECT id FROM returns WHERE order_id = $1', [orderId]);
  const events: HistoryStep[] = [];
  for (const id of [orderId, ...subjects.rows.map((each) => each.id)]) events.push(...(await eventHistory(from, id)));
  return { ...order, steps: sortSteps([...history.rows, ...events]) };
}
