// Compares the effects of each order, the released stock and the e-mails, with the order.
import { readdir } from 'node:fs/promises';
import type pg from 'pg';
import { ofOrder } from '../../../services/orders/src/order/order-columns.ts';
import { isUnchecked, type Observed } from './checked.ts';

interface OrderEffects {
  readonly id: string;
  readonly status: string;
  readonly released: number;
  readonly mails: number;
  readonly received: number;
  readonly obsolete: number;
  readonly events: number;
  readonly dated: boolean;
  readonly shortened: number;
  readonly shortenedMails: number;
  readonly paid: number;
  readonly paidMails: number;
  readonly unneeded: number;
  readonly unneededMails: number;
  readonly refunded: number;
  readonly refundedMails: number;
  readonly returned: number;
  readonly returnedMails: number;
}

/** Whether the e-mail `n` of the order was sent, or was obsolete because the cancellation was handled first. */
const isSettled = `(n.status = 'sent' OR n.status = 'obsolete' AND EXISTS (
  SELECT FROM notifications.notifications AS c
  WHERE c.order_id = n.order_id AND c.kind = 'order-cancelled'
    AND (c.created_at <= n.created_at OR c.settled_at <= n.settled_at + interval '1 second')))`;

const effects = `
  SELECT orders.id, orders.status,
    (SELECT count(DISTINCT reservation_id)::int FROM catalogue.stock_ledger g
      WHERE g.reservation_id = orders.reservation_id AND g.kind = 'released' AND g.remaining IS NULL) AS released,
    (SELECT count(*)::int FROM order_history h WHERE ${ofOrder('h')} AND h.cancelled_lines IS NOT NULL) AS shortened,
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.kind LIKE 'order-lines-cancelled %' AND n.status = 'sent') AS "shortenedMails",
    (SELECT count(*)::int FROM payment_ledger l
      WHERE ${ofOrder('l')} AND l.kind = 'received' AND l.cause = 'order-paid') AS paid,
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.kind = 'order-paid' AND ${isSettled}) AS "paidMails",
    (SELECT count(*)::int FROM payment_ledger l
      WHERE ${ofOrder('l')} AND l.kind = 'received' AND l.cause <> 'order-paid') AS unneeded,
    (SELECT count(*)::int FROM payment_ledger l WHERE ${ofOrder('l')} AND l.kind = 'refunded') AS refunded,
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.kind LIKE 'order-refunded %' AND n.status = 'sent') AS "refundedMails",
    (SELECT count(*)::int FROM returns r JOIN outbox e ON e.subject = r.id::text
        AND e.type IN ('return.requested.v1', 'return.approved.v1', 'return.refused.v1', 'return.received.v1')
      WHERE ${ofOrder('r')}) AS returned,
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.kind LIKE 'order-return-%' AND n.status = 'sent') AS "returnedMails",
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.kind LIKE 'order-refund-due %' AND n.status = 'sent') AS "unneededMails",
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.kind = 'order-cancelled' AND n.status = 'sent') AS mails,
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.kind = 'order-received' AND ${isSettled}) AS received,
    (SELECT count(*)::int FROM notifications.notifications n
      WHERE n.order_id = orders.id AND n.status = 'obsolete') AS obsolete,
    (SELECT count(*)::int FROM outbox e
      WHERE e.subject = orders.id::text AND e.type = 'order.cancelled.v1') AS events,
    coalesce(created_at <= cancelled_at AND cancelled_at <= stock_released_at AND cancelled_at <= customer_notified_at
      AND greatest(stock_released_at, customer_notified_at) <= now(), status <> 'cancelled') AS dated
  FROM orders
  WHERE NOT EXISTS (SELECT FROM erased_accounts e WHERE e.account_id = orders.account_id)
    AND ${isUnchecked('orders.id')}`;

export async function effectViolations({ admin, mailFolder }: Observed): Promise<string[]> {
  const { rows } = await admin.query<OrderEffects>(effects);
  const written = await mailsByOrder(mailFolder);
  const found: string[] = [];
  for (const row of rows) {
    const { id, status, released, mails, received, events, dated, shortened, shortenedMails } = row;
    const { paid, unneeded, refunded, obsolete, returned } = row;
    const expected = status === 'cancelled' ? 1 : 0;
    if (released !== expected) found.push(`order ${id} is ${status} and its stock was released ${released} times`);
    if (mails !== expected) found.push(`order ${id} is ${status} and has ${mails} e-mails that say it is cancelled`);
    if (events !== expected) found.push(`order ${id} is ${status} and ${events} cancelled events were sent`);
    if (received !== 1) found.push(`order ${id} has ${received} e-mails that say it was received`);
    if (obsolete > 0 && status !== 'cancelled') found.push(`order ${id} is ${status} and has obsolete e-mails`);
    if (!dated) found.push(`order ${id} was cancelled, and what followed is dated before that or in the future`);
    const files = written.get(id) ?? 0;
    if (shortenedMails !== shortened) {
      found.push(`units of order ${id} were cancelled ${shortened} times, and ${shortenedMails} e-mails say so`);
    }
    if (row.paidMails !== paid || row.unneededMails !== unneeded) {
      found.push(
        `order ${id} was paid by ${paid} payments and got ${unneeded} others, ` +
          `and ${row.paidMails} and ${row.unneededMails} e-mails say so`,
      );
    }
    if (row.refundedMails !== refunded)
      found.push(`order ${id} was refunded ${refunded} times, and ${row.refundedMails} e-mails say so`);
    if (row.returnedMails !== returned)
      found.push(`order ${id} has ${returned} steps of returns, and ${row.returnedMails} e-mails say so`);
    const isTold = ['cancelled', 'shipped', 'delivered'].includes(status);
    const told = (isTold ? 2 : 1) + shortened + paid + unneeded + refunded + returned - obsolete;
    if (files !== told) found.push(`order ${id} is ${status} and ${files} e-mails lie in the folder`);
  }
  const { rows: doubled } = await admin.query<{ reservation_id: string }>(`
    SELECT reservation_id FROM catalogue.stock_ledger
    WHERE kind IN ('released', 'shipped') AND remaining IS NULL
    GROUP BY reservation_id HAVING count(DISTINCT kind) > 1`);
  for (const { reservation_id: id } of doubled) found.push(`reservation ${id} was both released and shipped`);
  const { rows: both } = await admin.query<{ id: string }>(`
    SELECT id FROM orders JOIN order_history AS h ON ${ofOrder('h')} GROUP BY id
    HAVING bool_or(h.status = 'cancelled') AND bool_or(h.status = 'shipped')`);
  for (const { id } of both) found.push(`order ${id} was both cancelled and shipped`);
  return [...found, ...(await handlerViolations(admin))];
}

/**
 * Counts how often the handlers of notifications ran to their COMMIT. Most handlers have no effect the second time, so
 * no data of the shop shows that one ran twice, except the attempt to add an existing e-mail.
 */
export const handlerWatch = `
  CREATE SCHEMA harness;
  CREATE TABLE harness.handler_runs (account_id uuid, at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE FUNCTION harness.count_run() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN INSERT INTO harness.handler_runs (account_id) VALUES (NEW.account_id); RETURN NEW; END $$;
  CREATE TRIGGER count_run BEFORE INSERT ON notifications.notifications
    FOR EACH ROW EXECUTE FUNCTION harness.count_run();`;

async function handlerViolations(admin: pg.Pool): Promise<string[]> {
  // Late events of erased accounts cause no e-mail.
  const { rows } = await admin.query<{ runs: number; events: number }>(`
    WITH erased (subject) AS (
      SELECT account_id::text FROM orders.erased_accounts
      UNION ALL SELECT id::text FROM orders JOIN erased_accounts USING (account_id))
    SELECT (
        SELECT count(*)::int FROM harness.handler_runs
        WHERE account_id::text NOT IN (SELECT subject FROM erased)) AS runs,
      (SELECT count(*)::int FROM notifications.inbox
        WHERE consumer = 'notifications.mail'
          AND (type LIKE 'order.%' OR type LIKE 'refund.%' OR type LIKE 'return.%' OR type = 'email-token.issued.v1'
            OR event_id IN (SELECT id FROM accounts.outbox WHERE data -> 'credentialsChanged' IS NOT NULL))
          AND subject NOT IN (SELECT subject FROM erased)) AS events`);
  const { runs = 0, events = 0 } = rows[0] ?? {};
  return runs === events
    ? []
    : [`${events} events with an e-mail were taken by notifications, and their handlers ran ${runs} times`];
}

/** The number of e-mails of each order in the folder. The name of a file contains its order and its kind. */
async function mailsByOrder(folder: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const file of await readdir(folder).catch(() => [])) {
    const [id = ''] = file.split('.');
    if (file.endsWith('.eml')) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}
