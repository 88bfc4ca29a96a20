// An order: the functions that read it, and how its callers see it.
import type { Caller } from '@shop/shared/auth';
import {
  type Collection,
  type CollectionSpec,
  type Cursors,
  decimal,
  openCollection,
  selectAll,
  writeAll,
} from '@shop/shared/collection';
import { sql, type Transaction } from '@shop/shared/database';
import { type OperationRequest, type Result, requireMatch, toEtag, toWeakEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { findDecimals } from '@shop/shared/shop';
import type { Pricing } from '../pricing/pricing.ts';
import { staffVersionSql } from './order-columns.ts';
import { exportSpec, type OrderList, orderSpec } from './order-spec.ts';
import type { OrderStatus } from './order-status.ts';

/** Orders as the operations use them. */
export interface Orders {
  readonly lists: Readonly<Record<OrderList, Collection<Caller>>>;
  readonly currency: string;
  /** Amounts: `fromJson` reads major units into minor ones, `toJson` writes them. */
  readonly money: ReturnType<typeof decimal>;
  /** Returns the view of orders for this caller. */
  viewOf(caller: Caller): OrderView;
  /** The view of orders in an export. */
  readonly exported: ExportView;
}

export interface ExportView {
  /** The SELECT list of an order: its members as JSON text. */
  readonly columns: string;
  /** Returns the JSON text of a row of `columns`. */
  write(row: object): string;
}

export interface OrderView {
  readonly by: 'customer' | 'staff';
  /** The SELECT list of a whole order: its members as JSON text, then its version. */
  readonly columns: string;
  /** Returns the response for a row of `columns`. */
  result(status: number, row: object, headers?: Readonly<Record<string, string>>): Result;
}

/** Returns whether the caller may see the customers of orders. */
export function isStaff({ scopes }: Caller): boolean {
  return scopes.has('orders:read-all') || scopes.has('orders:fulfil');
}

export function openOrders(currency: string, cursors: Cursors): Orders {
  const specs = {
    own: orderSpec(currency, 'own'),
    account: orderSpec(currency, 'account'),
    all: orderSpec(currency, 'all'),
  };
  const customer = openView('customer', specs.own, 'version::text');
  const staff = openView('staff', specs.account, staffVersionSql);
  return {
    lists: {
      own: openCollection(specs.own, cursors),
      account: openCollection(specs.account, cursors),
      all: openCollection(specs.all, cursors),
    },
    currency,
    money: decimal(findDecimals(currency)),
    viewOf: (caller) => (isStaff(caller) ? staff : customer)(caller),
    exported: openExportView(exportSpec(specs.own, findDecimals(currency))),
  };
}

function openView(
  by: OrderView['by'],
  spec: CollectionSpec<Caller>,
  versionSql: string,
): (caller: Caller) => OrderView {
  const columns = `${selectAll(spec)}, ${versionSql} AS version`;
  const write = writeAll(spec);
  return (caller) => ({
    by,
    columns,
    result: (status, row, headers = {}) => {
      const values: (string | null)[] = Object.values(row);
      return { status, headers, etag: toWeakEtag(values.at(-1) ?? ''), json: write(values, caller) };
    },
  });
}

function openExportView(spec: CollectionSpec<Caller>): ExportView {
  const write = writeAll(spec);
  // No member of an export depends on the caller.
  return { columns: selectAll(spec), write: (row) => write(Object.values(row), undefined as never) };
}

/** Returns the present order, in a transaction that has locked or inserted it. */
export async function showOrder(
  tx: Transaction,
  orders: Orders,
  caller: Caller,
  order: { readonly id: string; readonly accountId: string },
): Promise<Result> {
  const { columns, result } = orders.viewOf(caller);
  const [row] = await sql(tx, `SELECT ${columns} FROM orders WHERE id = $1 AND account_id = $2`, [
    order.id,
    order.accountId,
  ]);
  return result(200, row ?? {});
}

export interface LockedOrder {
  readonly id: string;
  readonly accountId: string;
  readonly reservationId: string;
  readonly status: OrderStatus;
  readonly version: number;
  readonly totalMinor: number;
  readonly currency: string;
  /** Null for an order without shipping, discounts and taxes. */
  readonly pricing: Pricing | null;
}

export const selectOrder = `SELECT id, account_id AS "accountId", reservation_id AS "reservationId", status, version,
  total_minor AS "totalMinor", currency, pricing FROM orders`;

/**
 * Locks an order until the transaction ends.
 * @param owner the account that it must belong to; undefined for staff
 * @throws Problem 404, the same for an order that does not exist and for an order of another account
 */
export async function lockOrder(tx: Transaction, id: string, owner: string | undefined): Promise<LockedOrder> {
  const [order] = await sql<LockedOrder>(
    tx,
    `${selectOrder} WHERE id = $1 ${owner === undefined ? '' : 'AND account_id = $2'} FOR UPDATE`,
    owner === undefined ? [id] : [id, owner],
  );
  if (order === undefined) throw noSuchOrder();
  return order;
}

/** @throws Problem 412 when `If-Match` names another version of the order */
export function requireVersion({ headers }: OperationRequest, { version }: LockedOrder): void {
  requireMatch(headers, toWeakEtag(version), toEtag(version));
}

export function noSuchOrder(): Problem {
  return new Problem('not-found', 'There is no order with this id.');
}
