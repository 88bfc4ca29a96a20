// The event about what an order shows besides its state and its money: effects, and the customer.
import type { Transaction } from '@shop/shared/database';
import { appendEvents, type EventType, type NewEvent } from '@shop/shared/events';

/** An order after its version was increased, in the transaction that changed it. */
export interface UpdatedOrder {
  readonly id: string;
  readonly version: number;
}

export type EventCause = Pick<NewEvent<EventType>, 'requestId' | 'traceparent'>;

/** Appends `order.updated.v1` for each of the orders of one account. Without an order, no statement runs. */
export async function appendOrderUpdates(
  tx: Transaction,
  { requestId, traceparent }: EventCause,
  accountId: string,
  orders: readonly UpdatedOrder[],
): Promise<void> {
  if (orders.length === 0) return;
  const events = orders.map(({ id: orderId, version: sequence }) => {
    const data = { orderId, accountId };
    return { type: 'order.updated.v1', subject: orderId, sequence, requestId, traceparent, data } as const;
  });
  await appendEvents(tx, events);
}
