// What the operations of orders are given.
import type { IdempotencyContext, InternalClient, TypedOperation } from '@shop/shared/http';
import type { Log } from '@shop/shared/runtime';
import type { operations } from './generated.ts';
import type { Orders } from './order.ts';

export interface OrdersContext extends IdempotencyContext {
  readonly orders: Orders;
  readonly catalogue: InternalClient;
  readonly log: Log;
}

/** As much of it as is needed to look at orders and move them on; placing one needs the catalogue. */
export type OrderBook = Omit<OrdersContext, 'catalogue' | 'log'>;

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations, Needed = OrdersContext> = TypedOperation<operations[Id], Needed>;
