// Publishes events as the other services do, for the tests of changes.
import type { EventPayloads } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport } from '@shop/shared/testing';
import type { FeedEventType } from '../src/feed/changed-resource.ts';

export interface TestEvent {
  readonly type: FeedEventType;
  readonly data: object;
  readonly subject: string;
  readonly sequence: number;
  readonly previousSequence?: number;
  readonly id?: string;
}

export interface EventPublisher {
  publish(events: readonly TestEvent[]): Promise<void>;
  close(): Promise<void>;
}

export async function openPublisher(url: string): Promise<EventPublisher> {
  const transport = await connectTestTransport(url);
  return {
    async publish(events) {
      const messages = events.map((event) => {
        const { id = newId(), type } = event;
        return { id, type, content: JSON.stringify({ ...toCloudEvent(event), id }) };
      });
      const outcomes = await transport.publish(messages);
      if (outcomes.some((outcome) => outcome !== 'confirmed')) throw new Error('the broker did not take an event');
    },
    close: () => transport.close(),
  };
}

const padded = (version: number): string => String(version).padStart(10, '0');

function toCloudEvent({ type, data, subject, sequence, previousSequence }: TestEvent): object {
  return {
    specversion: '1.0',
    source:
      type.startsWith('product') || type.startsWith('stock')
        ? '/catalogue'
        : type.startsWith('account')
          ? '/accounts'
          : '/orders',
    type,
    subject,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    sequence: padded(sequence),
    ...(previousSequence !== undefined && { previoussequence: padded(previousSequence) }),
    requestid: 'request-of-test',
    data,
  };
}

/** The events of an order: created, processing, shipped, delivered. The versions have gaps. */
export function eventsOfOrder(accountId: string, orderId = newId()): TestEvent[] {
  const reference = { orderId, accountId, reservationId: newId() };
  const items = [{ productId: newId(), name: 'Desk lamp', quantity: 1, unitPrice: 5, lineTotal: 5 }];
  const steps: readonly (readonly [FeedEventType, object])[] = [
    ['order.created.v1', { ...reference, items, totalCost: 5, currency: 'EUR' }],
    ['order.processing.v1', reference],
    [
      'order.shipped.v1',
      { ...reference, items: items.map(({ productId, name }) => ({ productId, name, quantity: 1 })) },
    ],
    ['order.delivered.v1', reference],
  ];
  return steps.map(([type, data], index) => ({
    ...{ type, data, subject: orderId, sequence: 2 * index + 1 },
    ...(index > 0 && { previousSequence: 2 * index - 1 }),
  }));
}

/** An event with the whole state of a product. */
export function productEvent(
  productId: string,
  sequence: number,
  {
    type = 'product.updated.v1',
    ...members
  }: Partial<EventPayloads['product.updated.v1']> & { readonly type?: FeedEventType } = {},
): TestEvent {
  const data = {
    productId,
    ...{ name: 'Desk lamp', brand: 'Acme', category: 'lighting', price: 5, currency: 'EUR' },
    ...{ status: 'available', inStock: true, sku: 'SECRET-1', ...members },
  };
  return { type, data, subject: productId, sequence, ...(sequence > 1 && { previousSequence: sequence - 1 }) };
}
