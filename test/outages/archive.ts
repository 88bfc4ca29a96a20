// The archive of orders, into which a process moves finished orders all the time: counts the moves, and finds orders
// that are not where they belong.
import type pg from 'pg';
import { allOrders, rowsOf } from '../../services/orders/src/order-rows.ts';
import { isUnchecked } from './checked.ts';

/** Counts the committed moves. */
export const archiveWatch = `
  CREATE TABLE harness.archive_moves (move text NOT NULL);
  CREATE FUNCTION harness.count_move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN INSERT INTO harness.archive_moves (move) VALUES (TG_OP); RETURN NULL; END $$;
  CREATE TRIGGER count_move AFTER INSERT OR DELETE ON orders.archived_orders
    FOR EACH ROW EXECUTE FUNCTION harness.count_move();`;

export interface Moves {
  readonly archived: number;
  readonly restored: number;
}

/** The moves since the start. */
export async function movesOf(admin: pg.Pool): Promise<Moves> {
  const { rows } = await admin.query<Moves>(`
    SELECT count(*) FILTER (WHERE move = 'INSERT')::int AS archived,
      count(*) FILTER (WHERE move = 'DELETE')::int AS restored
    FROM harness.archive_moves`);
  return rows[0] ?? { archived: 0, restored: 0 };
}

const isUnfinished = `(
  'pending' IN (orders.stock_released, orders.customer_notified)
  OR EXISTS (SELECT FROM ${rowsOf('order_history')} AS h WHERE 'pending' IN (h.stock_released, h.customer_notified))
  OR EXISTS (SELECT FROM ${rowsOf('order_payments')} AS p WHERE p.status = 'refund_due'))`;

/** Fault → the orders that have it. */
const faults: Readonly<Record<string, string>> = {
  'is in orders and in the archive': 'SELECT id FROM orders JOIN archived_orders USING (id)',
  'is archived although something is expected of it': `SELECT id FROM ${allOrders}
    WHERE archived IS NOT NULL AND ${isUnchecked('orders.id')} AND ${isUnfinished}`,
  'has no entry in its history for its state': `
    SELECT id FROM ${allOrders} WHERE ${isUnchecked('orders.id')} AND NOT EXISTS (
    SELECT FROM ${rowsOf('order_history')} AS h WHERE h.status = orders.status)`,
  'is archived without the references of its money': `
    SELECT id FROM ${allOrders} WHERE ${isUnchecked('orders.id')} AND EXISTS (
    SELECT FROM archived_movements(archived) AS m
    WHERE m.reference IS NOT NULL AND NOT EXISTS (
      SELECT FROM archived_orders AS a
      WHERE a.id = orders.id AND a.payment_references @> ARRAY[m.kind || ' ' || m.reference]))`,
};

export async function archiveViolations(admin: pg.Pool): Promise<string[]> {
  const found: string[] = [];
  for (const [fault, query] of Object.entries(faults)) {
    const { rows } = await admin.query<{ id: string }>(query);
    for (const { id } of rows) found.push(`order ${id} ${fault}`);
  }
  return found;
}
