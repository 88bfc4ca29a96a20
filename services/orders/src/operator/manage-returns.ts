// Lets operators list, show, approve, refuse and receive the returns of all accounts, by the rules of the API. No
// service has to run: the next relay that runs publishes the events.
import { requestIdentity } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { type Environment, StartError } from '@shop/shared/runtime';
import type { components } from '../generated.ts';
import { approve, type Change, refuseFor } from '../returns/change-return.ts';
import { findReturn } from '../returns/find-return.ts';
import { receiveWith } from '../returns/receive-return.ts';
import { lockReturn, showReturn } from '../returns/return.ts';
import type { ReturnStatus } from '../returns/return-status.ts';
import { noAccount, operator, withOrders } from './order-store.ts';

export type Return = components['schemas']['Return'];

export interface ReturnSelection {
  readonly status?: ReturnStatus;
  /** Only returns of this account. */
  readonly account?: string;
  /** Only returns of this order. */
  readonly order?: string;
  /** Only returns that are older than this return. */
  readonly before?: string;
  /** The largest number of returns. */
  readonly limit: number;
}

/**
 * Returns the returns of all accounts, newest first.
 * @param environment the variables of orders, of which DATABASE_URL and SHOP_CURRENCY are read
 */
export function listAllReturns(environment: Environment, selection: ReturnSelection): Promise<Return[]> {
  return withOrders(environment, async ({ database, returns }) => {
    const { status, account, order, before, limit } = selection;
    // Ids grow with time, so the primary key gives the order.
    const { rows } = await database.pool.query<object>(
      `SELECT ${returns.columns} FROM returns
       WHERE ($1::text IS NULL OR status = $1) AND ($2::uuid IS NULL OR account_id = $2)
         AND ($3::uuid IS NULL OR order_id = $3) AND ($4::uuid IS NULL OR id < $4)
       ORDER BY id DESC LIMIT $5`,
      [status ?? null, account ?? null, order ?? null, before ?? null, limit],
    );
    return rows.map((row) => viewOf(returns.result(operator(noAccount), 200, row)));
  });
}

/** Returns undefined for an unknown id. */
export function showAnyReturn(environment: Environment, id: string): Promise<Return | undefined> {
  return withOrders(environment, (store) =>
    findReturn(store, operator(noAccount), id).then(viewOf, (error) => {
      if (error instanceof Problem && error.code === 'not-found') return undefined;
      throw error;
    }),
  );
}

export function approveReturn(environment: Environment, id: string): Promise<Return> {
  return change(environment, id, () => approve);
}

/** @param reason which the customer gets by e-mail */
export function refuseReturn(environment: Environment, id: string, reason: string): Promise<Return> {
  return change(environment, id, () => refuseFor(reason));
}

export interface Arrival {
  /** The units by product; undefined when everything has arrived. */
  readonly arrived?: Readonly<Record<string, number>> | undefined;
  /** The products that are not sold again. */
  readonly unsellable?: readonly string[] | undefined;
}

/** @param environment RETURN_SHIPPING is read in addition */
export function receiveReturn(
  environment: Environment,
  id: string,
  { arrived, unsellable = [] }: Arrival,
): Promise<Return> {
  return change(environment, id, (store) => (tx, cause, present) => {
    const requested = Object.fromEntries(present.lines.map(({ productId, quantity }) => [productId, quantity]));
    const units = arrived === undefined ? requested : { ...toZero(requested), ...arrived };
    const lines = Object.entries(units).map(([productId, quantity]) => ({
      productId,
      quantity,
      restock: !unsellable.includes(productId),
    }));
    return receiveWith({ ...store, lines })(tx, cause, present);
  });
}

function toZero(units: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.keys(units).map((productId) => [productId, 0]));
}

/** @throws StartError when the return does not exist, or the change is refused */
function change(
  environment: Environment,
  id: string,
  changeOf: (store: Parameters<Parameters<typeof withOrders>[1]>[0]) => Change,
): Promise<Return> {
  return withOrders(environment, async (store) => {
    const caller = operator(noAccount);
    try {
      const result = await store.database.transaction(async (tx) => {
        const present = await lockReturn(tx, id, undefined);
        await changeOf(store)(tx, { ...requestIdentity({}), caller }, present);
        return showReturn(tx, store.returns, caller, present);
      });
      return viewOf(result);
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      throw new StartError([error.message, ...error.errors.map(({ detail }) => `${detail}.`)].join(' '));
    }
  });
}

function viewOf({ json }: { readonly json?: unknown }): Return {
  return JSON.parse(String(json)) as Return;
}
