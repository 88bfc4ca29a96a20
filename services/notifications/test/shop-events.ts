// Events as the other services send them, for the tests of notifications.
import {
  connectTransport,
  type EventPayloads,
  type EventType,
  shopTopology,
  type Transport,
} from '@shop/shared/events';
import { createLog, newId } from '@shop/shared/runtime';

export interface ShopEvents {
  /** Publishes one event as its service does. Two events with the same `id` are one event. */
  send<Type extends EventType>(
    type: Type,
    data: EventPayloads[Type],
    more?: { readonly id?: string; readonly sequence?: number; readonly requestId?: string },
  ): Promise<void>;
  /** The `notification.sent.v1` events that arrived so far. */
  readonly told: EventPayloads['notification.sent.v1'][];
  /** The request ids of these events, by order. */
  readonly requestIds: Map<string, string>;
  close(): Promise<void>;
}

export async function joinEvents(url: string): Promise<ShopEvents> {
  const log = createLog('test', 'silent');
  const transport: Transport = await connectTransport({ url, name: 'test', topology: shopTopology, log });
  const told: EventPayloads['notification.sent.v1'][] = [];
  const requestIds = new Map<string, string>();
  await transport.subscribe({
    consumer: 'orders.effects',
    prefetch: 10,
    async take({ content }) {
      const { data, requestid } = JSON.parse(content) as {
        data: EventPayloads['notification.sent.v1'];
        requestid: string;
      };
      told.push(data);
      requestIds.set(data.orderId, requestid);
      return { kind: 'done' };
    },
  });
  return {
    told,
    requestIds,
    async send(type, data, { id = newId(), sequence = 1, requestId = 'request-of-test' } = {}) {
      const event = {
        specversion: '1.0',
        id,
        source: '/test',
        type,
        subject: 'orderId' in data ? data.orderId : 'accountId' in data ? data.accountId : data.productId,
        time: new Date().toISOString(),
        datacontenttype: 'application/json',
        sequence: String(sequence).padStart(10, '0'),
        requestid: requestId,
        data,
      };
      const outcomes = await transport.publish([{ id, type, content: JSON.stringify(event) }]);
      if (outcomes[0] !== 'confirmed') throw new Error(`the broker did not take ${type}`);
    },
    close: () => transport.close(),
  };
}

/** An account and one of its orders, with all values that the events about them need. */
export function someOrder() {
  const [orderId, accountId, reservationId] = [newId(), newId(), newId()];
  const reference = { orderId, accountId, reservationId };
  const items = [
    { productId: newId(), name: 'Desk lamp', quantity: 2, unitPrice: 19.99, lineTotal: 39.98 },
    { productId: newId(), name: 'Chair', quantity: 1, unitPrice: 120.5, lineTotal: 120.5 },
  ];
  return {
    orderId,
    accountId,
    account: { accountId, email: 'ada@example.org', name: 'Ada Lovelace' },
    reference,
    created: { ...reference, items, totalCost: 160.48, currency: 'EUR' },
    linesCancelled: {
      ...reference,
      orderVersion: 2,
      items: [{ productId: items[0]?.productId ?? '', name: 'Desk lamp', quantity: 1 }],
      remaining: items.map((item) => (item.quantity === 2 ? { ...item, quantity: 1, lineTotal: 19.99 } : item)),
      totalCost: 140.49,
      currency: 'EUR',
      reason: 'one is enough',
      cancelledAt: new Date().toISOString(),
      cancelledBy: 'customer' as const,
    },
    paid: { ...reference, amount: 160.48, currency: 'EUR', paidAt: new Date().toISOString() },
    /** The payment differs from the total. */
    refundDue: {
      ...reference,
      refundId: newId(),
      amount: 99,
      currency: 'EUR',
      cause: 'amount-differs' as const,
      dueAt: new Date().toISOString(),
      receivedAt: new Date().toISOString(),
    },
    refunded: { ...reference, amount: 99, currency: 'EUR', refundedAt: new Date().toISOString() },
    cancelled: {
      ...reference,
      items: items.map(({ productId, name, quantity }) => ({ productId, name, quantity })),
      reason: 'ordered twice',
      cancelledAt: new Date().toISOString(),
    },
  };
}
