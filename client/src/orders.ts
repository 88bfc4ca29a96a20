// Waiting for an order.
import type { Calls } from './call.ts';
import type { components } from './contract.ts';
import type { Order } from './list.ts';
import type { Operations } from './operations.ts';
import { dataOf } from './shop-error.ts';
import {
  type HistoryEntry,
  type OrderEffect,
  type OrderStatus,
  type WaitOptions,
  waitForHistory,
} from './wait-for-order.ts';

type Schemas = components['schemas'];
export type NewOrder = Schemas['NewOrder'];
export type Cancellation = Schemas['Cancellation'];

/** The caller's orders, and with `accountId` those of others. Each change has one effect, however often it is repeated. */
export type Orders = Operations['orders'] & {
  /**
   * Resolves with the order when it has reached one of the goals: a status, or an effect of its cancellation. A status
   * also counts as reached when the order already has a later one. A temporary failure does not stop the wait.
   * @throws WaitError when the order can no longer reach a goal, or has not reached one in time; the reason of the
   * signal; ShopError
   * @example
   * await shop.orders.waitFor(order.id, ['shipped', 'cancelled'], { timeout: 600_000 });
   */
  waitFor(orderId: string, goal: Goal | readonly Goal[], options?: WaitOptions): Promise<Order>;
};

type Goal = OrderStatus | OrderEffect;

/** @param isTemporary whether a read that failed may succeed later */
export function createWaitFor(call: Calls, isTemporary: (error: unknown) => boolean): Orders['waitFor'] {
  return async (orderId, goal, options = {}) => {
    const goals = typeof goal === 'string' ? [goal] : goal;
    const read = {
      history: (signal: AbortSignal) => readHistory(call, orderId, signal),
      result: (signal: AbortSignal) => readOrder(call, orderId, signal),
      isTemporary,
    };
    return waitForHistory(read, goals, options);
  };
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
