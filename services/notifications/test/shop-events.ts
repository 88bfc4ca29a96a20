// Events as the other services send them, for the tests of notifications.

import { toNode } from '@shop/shared/contract';
import type { EventPayloads, EventType } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, dataOf, recordedEvents, type Values } from '@shop/shared/testing';

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
  const transport = await connectTestTransport(url);
  const told: EventPayloads['notification.sent.v1'][] = [];
  const requestIds = new Map<string, string>();
  await transport.subscribe({
    consumer: 'orders.effects',
    prefetch: 10,
    async handle({ content }) {
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
      const { orderId, accountId, productId } = toNode(data);
      const event = {
        specversion: '1.0',
        id,
        source: '/test',
        type,
        subject: String(orderId ?? accountId ?? productId),
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

const recorded = recordedEvents({ consumer: 'notifications', provider: 'orders' });

/** An account and one of its orders, with the data of the recorded events about the order. */
export function someOrder() {
  const values: Values = new Map();
  const data = <Type extends EventType>(type: Type) => dataOf(recorded, type, values);
  const created = data('order.created.v1');
  const { orderId, accountId, reservationId } = created;
  return {
    orderId,
    accountId,
    account: { accountId, email: 'ada@example.org', name: 'Ada Lovelace' },
    reference: { orderId, accountId, reservationId },
    created,
    linesCancelled: data('order.lines-cancelled.v1'),
    paid: data('order.paid.v1'),
    /** The payment differs from the total. */
    refundDue: data('refund.due.v1'),
    refunded: data('refund.done.v1'),
    cancelled: data('order.cancelled.v1'),
    returnRequested: data('return.requested.v1'),
    returnApproved: data('return.approved.v1'),
    returnRefused: data('return.refused.v1'),
    returnReceived: data('return.received.v1'),
  };
}
