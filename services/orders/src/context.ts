// What the operations of orders are given.
import type { IdempotencyContext, InternalClient } from '@shop/shared/http';
import type { Log } from '@shop/shared/runtime';
import type { Orders } from './order.ts';

export interface OrdersContext extends IdempotencyContext {
  readonly orders: Orders;
  readonly catalogue: InternalClient;
  readonly log: Log;
}

/** As much of it as is needed to look at orders and move them on; placing one needs the catalogue. */
export type OrderBook = Omit<OrdersContext, 'catalogue' | 'log'>;
