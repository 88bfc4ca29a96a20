// The orders of the caller: listed, placed, cancelled, and waited for.
import type { Calls, Data } from './call.ts';
import type { components, operations } from './contract.ts';
import { type OrderCriteria, queryFilters } from './criteria.ts';
import type { ListOptions } from './list-options.ts';
import { itemsOf, type Page, pagesOf } from './pages.ts';
import { dataOf } from './shop-error.ts';
import {
  type HistoryEntry,
  type OrderEffect,
  type OrderStatus,
  type WaitOptions,
  waitForHistory,
} from './wait-for-order.ts';

type Schemas = components['schemas'];
export type Order = Schemas['Order'];
export type NewOrder = Schemas['NewOrder'];
export type Cancellation = Schemas['Cancellation'];

export interface ChangeOptions {
  /**
   * The caller's own idempotency key, to repeat a change after a restart of the program. By default, a new one is used.
   */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface Orders {
  /**
   * All of the caller's orders that meet the criteria.
   * @throws ShopError; TypeError for an empty list
   */
  <Field extends keyof Order = keyof Order>(
    criteria?: OrderCriteria,
    options?: ListOptions<Field, 'createdAt' | 'totalCost' | 'id'>,
  ): AsyncGenerator<Pick<Order, Field>, void>;
  /** Places an order once, however often the request is repeated. @throws ShopError of `createOrder` */
  place(order: NewOrder, options?: ChangeOptions): Promise<Order>;
  /** Cancels an order that has not shipped, or units of its lines. @throws ShopError of `cancelOrder` */
  cancel(orderId: string, cancellation?: Cancellation, options?: ChangeOptions): Promise<Order>;
  /**
   * Resolves with the order as soon as it has reached one of the goals: a status, or an effect of its cancellation. A
   * status also counts as reached when the order already has a later one. A failure that may be temporary does not end
   * the wait.
   * @throws WaitError when the order can no longer reach a goal, or has not reached one in time; the reason of the
   * signal; ShopError
   * @example
   * await shop.orders.waitFor(order.id, ['shipped', 'cancelled'], { timeout: 600_000 });
   */
  waitFor(
    orderId: string,
    goal: OrderStatus | OrderEffect | readonly (OrderStatus | OrderEffect)[],
    options?: WaitOptions,
  ): Promise<Order>;
}

/** @param isTemporary whether a read that failed may succeed later */
export function createOrders(call: Calls, isTemporary: (error: unknown) => boolean): Orders {
  const list = (criteria: OrderCriteria = {}, { sort, fields, limit = 100 }: ListOptions<keyof Order, string> = {}) => {
    const query = {
      ...queryFilters({ ...criteria }),
      ...(sort && { sort: sort.map(({ field, direction }) => `${field}:${direction}`).join(',') }),
      ...(fields && { fields: fields.join(',') }),
      limit,
    };
    const pages = pagesOf(async (cursor): Promise<Data<operations['listOrders']>> => {
      const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
      return dataOf('listOrders', await call.GET('/v1/orders', { params }));
    });
    return itemsOf(pages as AsyncIterable<Page<Order>>);
  };
  return Object.assign(list as unknown as Orders, {
    async place(body: NewOrder, { idempotencyKey, ...rest }: ChangeOptions = {}) {
      const params = { header: keyHeader(idempotencyKey) };
      return dataOf('createOrder', await call.POST('/v1/orders', { params, body, ...rest }));
    },
    async cancel(orderId: string, body: Cancellation = {}, { idempotencyKey, ...rest }: ChangeOptions = {}) {
      const params = { path: { orderId }, header: keyHeader(idempotencyKey) };
      return dataOf('cancelOrder', await call.POST('/v1/orders/{orderId}/cancel', { params, body, ...rest }));
    },
    async waitFor(
      orderId: string,
      goal: OrderStatus | OrderEffect | readonly (OrderStatus | OrderEffect)[],
      options: WaitOptions = {},
    ) {
      const goals = typeof goal === 'string' ? [goal] : goal;
      const read = {
        history: (signal: AbortSignal) => readHistory(call, orderId, signal),
        result: (signal: AbortSignal) => readOrder(call, orderId, signal),
        isTemporary,
      };
      return waitForHistory(read, goals, options);
    },
  });
}

export function keyHeader(key: string | undefined): { 'Idempotency-Key'?: string } {
  return key === undefined ? {} : { 'Idempotency-Key': key };
}

async function readOrder(call: Calls, orderId: string, signal: AbortSignal): Promise<Order> {
  const params = { path: { orderId } };
  return dataOf('getOrder', await call.GET('/v1/orders/{orderId}', { params, signal }));
}

/**
 * Reads the history, and adds the effects of the cancellation of the whole order, which only the order itself contains.
 */
async function readHistory(call: Calls, orderId: string, signal: AbortSignal): Promise<readonly HistoryEntry[]> {
  const params = { path: { orderId } };
  const { items } = dataOf('getOrderHistory', await call.GET('/v1/orders/{orderId}/history', { params, signal }));
  const last = items.at(-1);
  if (last?.status !== 'cancelled') return items;
  const { cancellation } = await readOrder(call, orderId, signal);
  return cancellation === undefined ? items : [...items.slice(0, -1), { ...last, ...effectsOf(cancellation) }];
}

function effectsOf({ stockReleased, customerNotified }: NonNullable<Order['cancellation']>): Partial<HistoryEntry> {
  return { stockReleased, customerNotified };
}
