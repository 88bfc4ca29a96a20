// An order with what happened to it and its returns.
import type { components, Order } from '@shop/client';
import { shop } from './shop.ts';

export type Return = components['schemas']['Return'];
export type HistoryEntry = components['schemas']['OrderHistory']['items'][number];

export interface OrderData {
  readonly order: Order;
  readonly history: readonly HistoryEntry[];
  readonly returns: readonly Return[];
}

export async function readOrder(id: string, signal: AbortSignal): Promise<OrderData> {
  const [order, { items: history }, { items: returns }] = await Promise.all([
    shop.orders.get(id, { signal }),
    shop.orders.getHistory(id, { signal }),
    shop.returns.page({ orderId: id }, { limit: 100, signal }),
  ]);
  // Without `fields`, a page has whole returns.
  return { order, history, returns: returns as Return[] };
}
