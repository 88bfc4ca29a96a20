// GET /internal/orders/{orderId}/trace: what the orders service knows of an order, step by step, for operators.
import { byTime, eventHistory, toStep } from '@shop/shared/events';
import type { Operation, OrderBook } from './context.ts';
import { noSuchOrder } from './order.ts';

const transitions = `
  SELECT at, status || ' by ' || actor AS what, request_id AS "requestId"
  FROM order_history WHERE order_id = $1`;

/** 404 for an unknown order. */
export const traceOrder: Operation<'traceOrder', OrderBook> = async ({ path: { orderId } }, { database }) => {
  const { pool } = database;
  const { rows } = await pool.query<{ orderId: string; reservationId: string; status: string }>(
    'SELECT id AS "orderId", reservation_id AS "reservationId", status FROM orders WHERE id = $1',
    [orderId],
  );
  const [order] = rows;
  if (order === undefined) throw noSuchOrder();
  const history = await pool.query(transitions, [orderId]);
  return {
    status: 200,
    body: { ...order, steps: byTime(history.rows.map(toStep), await eventHistory(pool, orderId)) },
  };
};
