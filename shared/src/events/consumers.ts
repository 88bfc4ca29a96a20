// Who takes which events: one durable queue per line. Every process declares all of them, or with `declare=own` its own while the
// broker's definitions hold the rest: an event published before its consumer ever ran waits in a queue and is not lost.
import type { EventType } from './definitions.ts';
import type { Handler } from './event.ts';

export const consumers = {
  'catalogue.inventory': ['order.created.v1', 'order.shipped.v1', 'order.cancelled.v1'],
  'notifications.mail': [
    'account.registered.v1',
    'account.updated.v1',
    'order.created.v1',
    'order.shipped.v1',
    'order.cancelled.v1',
  ],
  'orders.effects': ['stock.released.v1', 'notification.sent.v1'],
} as const satisfies Record<string, readonly EventType[]>;

export type ConsumerName = keyof typeof consumers;

/** One handler for each event type that the consumer takes, none missing and none more. */
export type HandlersOf<Name extends ConsumerName> = {
  readonly [Type in (typeof consumers)[Name][number]]: Handler<Type>;
};
