// The services of the shop. This is the only list of them: schemas, broker users, secrets, processes and tests follow from it.

interface Service {
  /** The first word of the types of the events that the service publishes. */
  readonly publishes: string;
  /**
   * The service's queue and the types of the events in it. Every process declares all queues, or with `declare=own` its own while
   * the broker's definitions hold the others: an event that is published before its consumer ever ran waits and is not lost.
   */
  readonly consumer?: { readonly name: string; readonly events: readonly string[] };
}

export const services = {
  accounts: { publishes: 'account' },
  orders: {
    publishes: 'order',
    consumer: { name: 'orders.effects', events: ['stock.released.v1', 'notification.sent.v1'] },
  },
  catalogue: {
    publishes: 'stock',
    consumer: { name: 'catalogue.inventory', events: ['order.created.v1', 'order.shipped.v1', 'order.cancelled.v1'] },
  },
  notifications: {
    publishes: 'notification',
    consumer: {
      name: 'notifications.mail',
      events: [
        'account.registered.v1',
        'account.updated.v1',
        'order.created.v1',
        'order.shipped.v1',
        'order.cancelled.v1',
      ],
    },
  },
} as const satisfies Record<string, Service>;

export type ServiceName = keyof typeof services;

/** In the order in which people see them. */
export const serviceNames = Object.keys(services) as [ServiceName, ...ServiceName[]];
