// Reads all schemas after a round and names everything that does not add up. It trusts nothing that the services say.
import { readdir } from 'node:fs/promises';
import type pg from 'pg';
import type { Journal } from './buyers.ts';

export interface Check {
  readonly admin: pg.Pool;
  readonly journal: Journal;
  readonly mailFolder: string;
  /** Stock of each product before the first order. */
  readonly initialStock: ReadonlyMap<string, number>;
}

/** What still moves: events on their way, effects pending, reservations undecided. Empty when all is quiet. */
export async function unrest(admin: pg.Pool): Promise<string[]> {
  const { rows } = await admin.query<{ what: string; count: number }>(`
    SELECT 'accounts.outbox' AS what, count(*)::int FROM accounts.outbox WHERE published_at IS NULL
    UNION ALL SELECT 'orders.outbox', count(*)::int FROM orders.outbox WHERE published_at IS NULL
    UNION ALL SELECT 'catalogue.outbox', count(*)::int FROM catalogue.outbox WHERE published_at IS NULL
    UNION ALL SELECT 'notifications.outbox', count(*)::int FROM notifications.outbox WHERE published_at IS NULL
    UNION ALL SELECT 'held reservations', count(*)::int FROM catalogue.reservations WHERE state = 'held'
    UNION ALL SELECT 'waiting e-mails', count(*)::int FROM notifications.notifications WHERE status = 'waiting'
    UNION ALL SELECT 'pending cancellations', count(*)::int FROM orders.orders
      WHERE status = 'cancelled' AND (stock_released = 'pending' OR customer_notified = 'pending')
    UNION ALL SELECT 'orders without a first e-mail', count(*)::int FROM orders.orders o
      WHERE NOT EXISTS (SELECT FROM notifications.notifications n WHERE n.order_id = o.id AND n.kind = 'order-received')
    UNION ALL SELECT 'shipped orders without an e-mail', count(*)::int FROM orders.orders o
      WHERE status = 'shipped' AND NOT EXISTS (SELECT FROM notifications.notifications n WHERE n.order_id = o.id AND n.kind = 'order-shipped')`);
  return rows.filter(({ count }) => count > 0).map(({ what, count }) => `${what}: ${count}`);
}

/** Every violation, a line each; empty when all holds. */
export async function violations(check: Check): Promise<string[]> {
  return [
    ...(await orderViolations(check)),
    ...(await stockViolations(check)),
    ...(await effectViolations(check)),
    ...answerViolations(check.journal),
  ];
}

async function orderViolations({ admin, journal }: Check): Promise<string[]> {
  const { rows } = await admin.query<{ id: string; status: string; lines: Record<string, number> }>(`
    SELECT o.id, o.status, json_object_agg(l.product_id, l.quantity) AS lines
    FROM orders.orders o LEFT JOIN orders.order_lines l ON l.order_id = o.id GROUP BY o.id, o.status`);
  const stored = new Map(rows.map((row) => [row.id, row]));
  const accepted = journal.orders.filter(({ orderId }) => orderId !== undefined);
  const found: string[] = [];
  for (const { key, orderId = '', lines, cancelled } of accepted) {
    const order = stored.get(orderId);
    if (order === undefined) {
      found.push(`order ${orderId} was accepted (key ${key}) and does not exist`);
      continue;
    }
    const wanted = Object.fromEntries(lines.map(({ productId, quantity }) => [productId, quantity]));
    if (!sameEntries(wanted, order.lines)) found.push(`order ${orderId} has other lines than were ordered`);
    if (cancelled === 200 && order.status !== 'cancelled')
      found.push(`order ${orderId} was cancelled and is ${order.status}`);
    if (cancelled === 409 && order.status === 'cancelled')
      found.push(`order ${orderId} is cancelled although the cancellation was refused`);
  }
  const ids = new Set(accepted.map(({ orderId }) => orderId));
  if (ids.size !== accepted.length) found.push('two requests with different keys were told of the same order');
  for (const id of stored.keys()) if (!ids.has(id)) found.push(`order ${id} exists and nobody was told of it`);
  return found;
}

function sameEntries(a: Record<string, number>, b: Record<string, number>): boolean {
  return Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([key, value]) => b[key] === value);
}

async function stockViolations({ admin, initialStock }: Check): Promise<string[]> {
  const { rows } = await admin.query<{
    id: string;
    stock: number;
    reserved: number;
    oversold: number;
    live: number;
    shipped: number;
  }>(`
    SELECT p.id, p.stock, p.reserved, p.oversold,
      coalesce(sum(l.quantity) FILTER (WHERE o.status IN ('pending', 'processing')), 0)::int AS live,
      coalesce(sum(l.quantity) FILTER (WHERE o.status IN ('shipped', 'delivered')), 0)::int AS shipped
    FROM catalogue.products p
    LEFT JOIN orders.order_lines l ON l.product_id = p.id
    LEFT JOIN orders.orders o ON o.id = l.order_id
    GROUP BY p.id`);
  const found: string[] = [];
  for (const { id, stock, reserved, oversold, live, shipped } of rows) {
    const initial = initialStock.get(id) ?? 0;
    if (stock + shipped !== initial)
      found.push(`product ${id}: ${initial} at first, ${stock} on hand, ${shipped} shipped`);
    if (reserved !== live) found.push(`product ${id}: ${reserved} reserved, ${live} in live orders`);
    if (oversold !== 0 || reserved > stock || reserved < 0) found.push(`product ${id}: sold beyond its stock`);
  }
  return found;
}

async function effectViolations({ admin, mailFolder }: Check): Promise<string[]> {
  const { rows } = await admin.query<{
    id: string;
    status: string;
    released: number;
    mails: number;
    received: number;
    events: number;
  }>(`
    SELECT o.id, o.status,
      (SELECT count(DISTINCT reservation_id)::int FROM catalogue.stock_ledger g
        WHERE g.reservation_id = o.reservation_id AND g.kind = 'released') AS released,
      (SELECT count(*)::int FROM notifications.notifications n WHERE n.order_id = o.id AND n.kind = 'order-cancelled' AND n.status = 'sent') AS mails,
      (SELECT count(*)::int FROM notifications.notifications n WHERE n.order_id = o.id AND n.kind = 'order-received' AND n.status = 'sent') AS received,
      (SELECT count(*)::int FROM orders.outbox e WHERE e.subject = o.id::text AND e.type = 'order.cancelled.v1') AS events
    FROM orders.orders o`);
  const written = await mailsByOrder(mailFolder);
  const found: string[] = [];
  for (const { id, status, released, mails, received, events } of rows) {
    const expected = status === 'cancelled' ? 1 : 0;
    if (released !== expected) found.push(`order ${id} is ${status} and its stock was released ${released} times`);
    if (mails !== expected) found.push(`order ${id} is ${status} and has ${mails} e-mails that say it is cancelled`);
    if (events !== expected) found.push(`order ${id} is ${status} and ${events} cancelled events were sent`);
    if (received !== 1) found.push(`order ${id} has ${received} e-mails that say it was received`);
    const files = written.get(id) ?? 0;
    const told = status === 'cancelled' || status === 'shipped' ? 2 : 1;
    if (files !== told) found.push(`order ${id} is ${status} and ${files} e-mails lie in the folder`);
  }
  const { rows: doubled } = await admin.query<{ reservation_id: string; kinds: number }>(`
    SELECT reservation_id, count(DISTINCT kind)::int AS kinds FROM catalogue.stock_ledger
    WHERE kind IN ('released', 'shipped') GROUP BY reservation_id HAVING count(DISTINCT kind) > 1`);
  for (const { reservation_id: id } of doubled) found.push(`reservation ${id} was both released and shipped`);
  const { rows: both } = await admin.query<{ order_id: string }>(`
    SELECT order_id FROM orders.order_history GROUP BY order_id
    HAVING count(*) FILTER (WHERE status = 'cancelled') > 0 AND count(*) FILTER (WHERE status = 'shipped') > 0`);
  for (const { order_id: id } of both) found.push(`order ${id} was both cancelled and shipped`);
  return found;
}

/** How many e-mails of each order lie in the folder; a file is named by its order and what it says. */
async function mailsByOrder(folder: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const file of await readdir(folder).catch(() => [])) {
    const [id = '', , ending] = file.split('.');
    if (ending === 'eml') counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** No answer may be a fault of ours, whatever was broken at the time; 502, 503 and 504 have to say that they are. */
function answerViolations({ answers }: Journal): string[] {
  const allowed = new Set([0, 200, 201, 409, 422, 429, 502, 503, 504]);
  return answers.flatMap(({ operation, status, type, body }) => {
    if (!allowed.has(status)) return [`an ${operation} was answered ${status}: ${body.slice(0, 300)}`];
    const expected = status < 300 ? 'application/json' : 'application/problem+json';
    return status !== 0 && type !== expected
      ? [`an ${operation} was answered ${status} as ${type}: ${body.slice(0, 300)}`]
      : [];
  });
}
