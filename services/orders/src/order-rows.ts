// The rows that belong to an order, whether it is archived or not. An archived order has them in its document.

/** All columns of `orders`. */
export const orderColumns = `id, account_id, reservation_id, status, version, currency, total_minor, shipping_address,
  cancellation_reason, cancelled_at, stock_released, stock_released_at, customer_notified, customer_notified_at,
  created_at, updated_at, tracking`;

/**
 * Table of the rows → its columns except the order and the account, in the sequence in which the function returns them
 * from a document.
 */
const columns = {
  order_lines: 'position, product_id, name, quantity, unit_price_minor, line_total_minor, cancelled_quantity',
  order_history: `version, status, actor, actor_id, request_id, at, cancelled_lines, reason, stock_released,
    stock_released_at, customer_notified, customer_notified_at`,
  order_payments: 'status, due_at, paid_at, refund_due_minor, refund_due_since, refunded_minor',
  payment_ledger: 'id, kind, reference, amount_minor, cause, due_minor, actor_id, request_id, at',
} as const;

type RowTable = keyof typeof columns;

/** Table → the function of migration 0017 that reads its rows from a document. */
const readers: Readonly<Record<RowTable, string>> = {
  order_lines: 'archived_lines',
  order_history: 'archived_history',
  order_payments: 'archived_payment',
  payment_ledger: 'archived_movements',
};

/** The item of FROM for all orders, under the name that the other parts of a statement use. */
export const allOrders = 'all_orders AS orders';

/** The rows of a table that belong to the order `orders` of `allOrders`, as an item of FROM. */
export function rowsOf(table: RowTable): string {
  return `(SELECT ${columns[table]} FROM ${table}
    WHERE ${table}.order_id = orders.id AND ${table}.account_id = orders.account_id
    UNION ALL SELECT * FROM ${readers[table]}(orders.archived))`;
}

/**
 * Inserts the rows of archived orders into their table, from the columns `id`, `account_id` and `document` of `from`.
 */
export function insertRows(table: RowTable, from: string): string {
  const list = columns[table].split(',').map((column) => column.trim());
  return `INSERT INTO ${table} (order_id, account_id, ${list.join(', ')})
    SELECT ${from}.id, ${from}.account_id, ${list.map((column) => `part.${column}`).join(', ')}
    FROM ${from}, ${readers[table]}(${from}.document) AS part`;
}
