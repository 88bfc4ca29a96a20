// Lets operators list, show, advance and cancel the orders of all accounts, by the rules of the API. No service has to
// run: the next relay that runs publishes the events.
import type { Caller } from '@shop/shared/auth';
import type { Transaction } from '@shop/shared/database';
import { type Result, requestIdentity } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { Environment } from '@shop/shared/runtime';
import type { OrderStore } from '../context.ts';
import type { components } from '../generated.ts';
import { type FulfilmentState, moveOrder } from '../order/advance-order.ts';
import type { Cause, Tracking } from '../order/change-status.ts';
import { findOrder } from '../order/find-order.ts';
import { type LockedOrder, lockOrder, showOrder } from '../order/order.ts';
import { findHistory, type Transition } from '../order/order-history.ts';
import type { OrderStatus } from '../order/order-status.ts';
import { recordCancellation } from '../order/record-cancellation.ts';
import { type Allocate, findReducedLines, findShippable, toTracking } from '../order/shipment.ts';
import { noAccount, operator, withOrders } from './order-store.ts';

export type Order = components['schemas']['Order'];
export type OrderWithHistory = Order & { readonly history: readonly Transition[] };

export interface OrderSelection {
  readonly status?: OrderStatus;
  /** Only orders of this account. */
  readonly account?: string;
  /** Only orders that were placed at or after this time (RFC 3339). */
  readonly since?: string;
  /** Only orders that are older than this order. */
  readonly before?: string;
  /** The largest number of orders. */
  readonly limit: number;
}

/** The order after its change, or the reason why the change was rejected. */
export type ChangedOrder =
  | { readonly id: string; readonly order: Order }
  | { readonly id: string; readonly refused: string; readonly code: string };

/**
 * Returns the orders of all accounts, newest first.
 * @param environment the variables of orders, of which DATABASE_URL and SHOP_CURRENCY are read
 */
export async function listAllOrders(environment: Environment, selection: OrderSelection): Promise<Order[]> {
  return withOrders(environment, async ({ database, orders }) => {
    const { columns, result } = orders.viewOf(operator(noAccount));
    // Ids grow with time, so the primary key gives the order.
    const { rows } = await database.pool.query<Record<string, string | null>>(
      `SELECT ${columns} FROM orders
       WHERE ($1::text IS NULL OR status = $1) AND ($2::uuid IS NULL OR account_id = $2)
         AND ($3::uuid IS NULL OR id < $3) AND ($4::timestamptz IS NULL OR created_at >= $4)
       ORDER BY id DESC LIMIT $5`,
      [
        selection.status ?? null,
        selection.account ?? null,
        selection.before ?? null,
        selection.since ?? null,
        selection.limit,
      ],
    );
    return rows.map((row) => viewOf(result(200, row)));
  });
}

/** Returns one order of any account with its history; undefined when it does not exist. */
export async function showAnyOrder(environment: Environment, orderId: string): Promise<OrderWithHistory | undefined> {
  return withOrders(environment, async (store) => {
    const caller = operator(noAccount);
    try {
      const { items } = await findHistory(store, caller, orderId);
      return { ...viewOf(await findOrder(store, caller, orderId)), history: items };
    } catch (error) {
      if (error instanceof Problem && error.code === 'not-found') return undefined;
      throw error;
    }
  });
}

export interface AdvanceOptions {
  /** The staff account that the history names; default none. */
  readonly accountId?: string | undefined;
  /** Called before an order is shipped. */
  readonly allocate: Allocate;
  /** The tracking of a shipped order. */
  readonly tracking?: Tracking | undefined;
}

/** Moves orders to a state, each in a transaction of its own. */
export async function advanceOrders(
  environment: Environment,
  to: FulfilmentState,
  orderIds: readonly string[],
  { accountId = noAccount, allocate, tracking }: AdvanceOptions,
): Promise<ChangedOrder[]> {
  return withOrders(environment, async (store) => {
    const outcomes: ChangedOrder[] = [];
    for (const id of orderIds) {
      const order = to === 'shipped' ? await findShippable(store.database, id) : undefined;
      const lines = order && (await findReducedLines(store.database, order));
      const problem = order && (await allocate(order.reservationId, lines));
      outcomes.push(
        problem === undefined
          ? await change(store, id, operator(accountId), (tx, cause, locked) =>
              moveOrder(tx, cause, store, locked, { to, tracking: toTracking(tracking) }),
            )
          : { id, ...refusalOf(problem) },
      );
    }
    return outcomes;
  });
}

export interface CancelOptions {
  /** The staff account that the history names; default none. */
  readonly accountId?: string | undefined;
  /** The reason, which the customer gets by e-mail. */
  readonly reason: string;
}

/** Cancels orders as staff, each in a transaction of its own. A cancelled order stays unchanged. */
export async function cancelOrders(
  environment: Environment,
  orderIds: readonly string[],
  { accountId = noAccount, reason }: CancelOptions,
): Promise<ChangedOrder[]> {
  return withOrders(environment, async (store) => {
    const outcomes: ChangedOrder[] = [];
    for (const id of orderIds) {
      outcomes.push(
        await change(store, id, operator(accountId), (tx, cause, order) =>
          recordCancellation(tx, cause, order, { actor: 'staff', reason }),
        ),
      );
    }
    return outcomes;
  });
}

function refusalOf({ code, message, errors }: Problem): { readonly refused: string; readonly code: string } {
  return { refused: [message, ...errors.map(({ detail }) => `${detail}.`)].join(' '), code };
}

/** Makes a change of one order, which it locks, in a transaction of its own. */
async function change(
  { database, orders }: OrderStore,
  id: string,
  caller: Caller,
  make: (tx: Transaction, cause: Cause, order: LockedOrder) => Promise<void>,
): Promise<ChangedOrder> {
  try {
    const result = await database.transaction(async (tx) => {
      const order = await lockOrder(tx, id, undefined);
      await make(tx, { ...requestIdentity({}), caller }, order);
      return showOrder(tx, orders, caller, order);
    });
    return { id, order: viewOf(result) };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return { id, ...refusalOf(error) };
  }
}

function viewOf({ json }: Result): Order {
  return JSON.parse(String(json)) as Order;
}
