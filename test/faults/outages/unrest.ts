// Work in progress: events that are not handled, pending effects, unresolved reservations.

import { serviceNames } from '@shop/shared/shop';
import { consumers } from '../../../shared/src/events/consumers.ts';
import type { Deployment } from './deployment.ts';
import { pause } from './fault.ts';
import { fullQueues } from './queues.ts';

/**
 * Some events leave no inbox row, because they have no effect: orders ignores events about e-mails that are not about a
 * cancellation, notifications ignores events about refunds that a cancellation or a return made due, and the catalogue
 * ignores returns without units that are sold again.
 */
const effective = (consumer: string): string => `
  (type <> 'notification.sent.v1' OR data->>'kind' IN ('order-cancelled', 'order-lines-cancelled'))
  AND (type <> 'refund.due.v1' OR data->>'receivedAt' IS NOT NULL)
  AND (type <> 'return.received.v1' OR '${consumer}' <> 'catalogue.inventory'
    OR EXISTS (SELECT FROM json_array_elements(data->'lines') AS line WHERE line->>'restock' = 'true'))`;

const counts: Readonly<Record<string, string>> = {
  'held reservations': "SELECT id FROM catalogue.reservations WHERE state = 'held'",
  'waiting e-mails': "SELECT id FROM notifications.notifications WHERE status = 'waiting'",
  'pending cancellations': `SELECT id FROM orders.orders
    WHERE status = 'cancelled' AND (stock_released = 'pending' OR customer_notified = 'pending')`,
  'pending cancellations of units': `SELECT order_id FROM orders.order_history
    WHERE cancelled_lines IS NOT NULL AND (stock_released = 'pending' OR customer_notified = 'pending')`,
  'pending returns of units to the stock': "SELECT id FROM orders.returns WHERE stock_returned = 'pending'",
  ...Object.fromEntries(
    serviceNames.map((service) => [
      `unpublished events of ${service}`,
      `SELECT id FROM ${service}.outbox WHERE published_at IS NULL`,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(consumers).map(([name, types]) => [`events not taken by ${name}`, notTaken(name, types)]),
  ),
};

/** Finds every event of these types that has an effect and of which the consumer has no inbox row. */
function notTaken(consumer: string, types: readonly string[]): string {
  const [service] = consumer.split('.');
  const list = types.map((type) => `'${type}'`).join(', ');
  const sent = serviceNames
    .map((each) => `SELECT id FROM ${each}.outbox WHERE type IN (${list}) AND ${effective(consumer)}`)
    .join(' UNION ALL ');
  return `SELECT id FROM (${sent}) AS sent
    WHERE NOT EXISTS (SELECT FROM ${service}.inbox WHERE consumer = '${consumer}' AND event_id = sent.id)`;
}

const statement = Object.entries(counts)
  .map(([what, query]) => `SELECT '${what}' AS what, count(*)::int FROM (${query}) AS counted`)
  .join(' UNION ALL ');

/** The data and the queues in which work can be in progress. */
export type Working = Pick<Deployment, 'admin' | 'brokerUrl'>;

/**
 * Returns a line for each piece of work in progress. The list is empty when there is none and the dead-letter queues
 * are empty.
 */
export async function unrest(system: Working): Promise<string[]> {
  const { rows } = await system.admin.query<{ what: string; count: number }>(statement);
  const moving = rows.filter(({ count }) => count > 0).map(({ what, count }) => `${what}: ${count}`);
  if (moving.length > 0) return moving;
  return (await fullQueues(system)).map(({ queue, count }) => `messages in ${queue}: ${count}`);
}

/** Waits until no work is in progress, and returns what still is after `patience` milliseconds. */
export async function untilQuiet(system: Working, patience: number): Promise<string[]> {
  const deadline = performance.now() + patience;
  // The database and the broker must be available, too.
  const look = (): Promise<string[]> => unrest(system).catch((error: unknown) => [String(error)]);
  let moving = await look();
  while (moving.length > 0 && performance.now() < deadline) {
    await pause(250);
    moving = await look();
  }
  return moving;
}
