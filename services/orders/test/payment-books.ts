// Verifies the money of orders offline: payments received = paid orders + refunds due + refunds done, for each order
// and in total.
import type pg from 'pg';
import { ofOrder } from '../src/order/order-columns.ts';

export interface Books {
  /** Amounts in minor units. */
  readonly received: number;
  /** The sum of the orders that are paid and not cancelled, without what came back. */
  readonly kept: number;
  readonly owed: number;
  readonly paidBack: number;
  /** The orders whose amounts do not add up, or whose balance differs from the ledger. */
  readonly faults: readonly string[];
}

const query = `
  SELECT id, received, became_due AS "becameDue", paid_back AS "paidBack", p.refund_due_minor AS owed,
    p.refunded_minor AS refunded,
    CASE WHEN p.paid_at IS NOT NULL AND orders.status <> 'cancelled' THEN total_minor ELSE 0 END
      - (SELECT coalesce(sum(refund_minor), 0) FROM returns WHERE ${ofOrder('returns')}) AS kept,
    (p.status = 'refund_due') = (orders.status = 'cancelled' AND p.refund_due_minor > 0) AS "isListed"
  FROM orders
  CROSS JOIN LATERAL (
    SELECT count(*) AS movements,
      coalesce(sum(amount_minor) FILTER (WHERE kind = 'received'), 0)::int AS received,
      coalesce(sum(amount_minor) FILTER (WHERE kind = 'refund-due'), 0)::int AS became_due,
      coalesce(sum(amount_minor) FILTER (WHERE kind = 'refunded'), 0)::int AS paid_back
    FROM payment_ledger AS movement WHERE ${ofOrder('movement')}
  ) AS ledger
  LEFT JOIN order_payments AS p ON ${ofOrder('p')}
  WHERE id = ANY ($1::uuid[]) AND movements > 0`;

export async function booksOf(database: Pick<pg.ClientBase, 'query'>, orderIds: readonly string[]): Promise<Books> {
  const { rows } = await database.query(query, [orderIds]);
  const sum = (name: string): number => rows.reduce((total, row) => total + Number(row[name]), 0);
  const adds = (row: Record<string, unknown>): boolean =>
    Number(row.received) === Number(row.kept) + Number(row.owed) + Number(row.paidBack) &&
    Number(row.owed) === Number(row.becameDue) - Number(row.paidBack) &&
    Number(row.refunded) === Number(row.paidBack) &&
    row.isListed === true;
  return {
    received: sum('received'),
    kept: sum('kept'),
    owed: sum('owed'),
    paidBack: sum('paidBack'),
    faults: rows.filter((row) => !adds(row)).map((row) => JSON.stringify(row)),
  };
}
