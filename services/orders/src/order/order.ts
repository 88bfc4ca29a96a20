// An order: its members, the filters and sort orders of its lists, and the functions that read it.
import type { Caller } from '@shop/shared/auth';
import {
  type Collection,
  type CollectionSpec,
  type Cursors,
  choice,
  decimal,
  json,
  listed,
  matched,
  none,
  openCollection,
  ordered,
  selectAll,
  text,
  time,
  uuid,
  writeAll,
} from '@shop/shared/collection';
import { sql, type Transaction } from '@shop/shared/database';
import { etagOf, type OperationRequest, type Reply, requireMatch, weakEtagOf } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { decimalsOf } from '@shop/shared/shop';
import {
  cancellationSql,
  customerSql,
  historySql,
  isDueSql,
  linesSql,
  movementsSql,
  paymentSql,
  staffAddressSql,
  staffVersionSql,
} from './order-columns.ts';
import { allowedActions, type OrderStatus, statuses } from './order-status.ts';

/**
 * The three views of orders: those of one account for its holder, the same orders for staff, and the orders of all
 * accounts for staff.
 */
type OrderList = 'own' | 'account' | 'all';

/**
 * All members of an order. A member that is not in this table appears in no response and in no SQL statement. The
 * indexes of migration 0013 serve the orders of all accounts.
 */
export function orderSpec(currency: string, list: OrderList): CollectionSpec<Caller> {
  const decimals = decimalsOf(currency);
  const ofAll = list === 'all';
  const forStaff = list !== 'own';
  return {
    name: 'orders',
    from: 'orders',
    ...(!ofAll && { scope: { account: { column: 'account_id', cast: 'uuid' } } }),
    parameters: ['accountId'],
    fields: {
      id: { type: uuid(), operators: listed, column: 'id', sortable: true },
      status: {
        type: choice(statuses),
        operators: matched,
        column: 'status',
        ...(ofAll && { scans: ['createdAt', 'updatedAt'] }),
      },
      createdAt: { type: time(), operators: ordered, column: 'created_at', sortable: true },
      updatedAt: { type: time(), operators: ordered, column: 'updated_at', sortable: ofAll },
      accountId: { type: uuid(), operators: none, column: 'account_id' },
      ...(forStaff && { customer: { type: json(), operators: none, column: customerSql } }),
      itemsSummary: { type: json(), operators: none, column: linesSql(decimals) },
      totalCost: {
        type: decimal(decimals),
        operators: ordered,
        column: 'total_minor',
        sortable: true,
        range: { from: 0, to: 999_999_999_999_999 },
      },
      currency: { type: text(3), operators: none, column: 'currency' },
      shipping_address: { type: json(), operators: none, column: forStaff ? staffAddressSql : 'shipping_address' },
      tracking: { type: json(), operators: none, column: 'tracking' },
      allowedActions: {
        type: json(),
        operators: none,
        column: `(account_id || ' ' || status || ${isDueSql})`,
        write: (column, caller) => {
          const [accountId = '', status, payment] = column?.split(' ') ?? [];
          return JSON.stringify(allowedActions(caller, accountId, status as OrderStatus, payment === 'due'));
        },
      },
      payment: { type: json(), operators: none, column: paymentSql(decimals) },
      cancellation: { type: json(), operators: none, column: cancellationSql },
    },
    defaultSort: [
      { field: 'createdAt', direction: 'desc' },
      { field: 'id', direction: 'desc' },
    ],
  };
}

/** An order in an export: the members that do not depend on the caller, the history, and the movements of money. */
function exportSpec(spec: CollectionSpec<Caller>, decimals: number): CollectionSpec<Caller> {
  const forEveryCaller = Object.entries(spec.fields).filter(([, { write }]) => write === undefined);
  return {
    ...spec,
    fields: {
      ...Object.fromEntries(forEveryCaller),
      history: { type: json(), operators: none, column: historySql },
      moneyMovements: { type: json(), operators: none, column: movementsSql(decimals) },
    },
  };
}

/** Orders as the operations use them. */
export interface Orders {
  readonly lists: Readonly<Record<OrderList, Collection<Caller>>>;
  readonly currency: string;
  /** Amounts: `fromJson` reads major units into minor ones, `toJson` writes them. */
  readonly money: ReturnType<typeof decimal>;
  /** Returns the view of orders that this caller has. */
  viewOf(caller: Caller): OrderView;
  /** The view of orders in an export. */
  readonly exported: ExportView;
}

export interface ExportView {
  /** The SELECT list of an order: its members as text. */
  readonly columns: string;
  /** Returns the JSON text of a row of `columns`. */
  write(row: object): string;
}

export interface OrderView {
  readonly by: 'customer' | 'staff';
  /** The SELECT list of a whole order: its members as text, then its version. */
  readonly columns: string;
  /** Returns the response for a row of `columns`. */
  reply(status: number, row: object, headers?: Readonly<Record<string, string>>): Reply;
}

/** Whether the caller may see the customers of orders. */
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
    money: decimal(decimalsOf(currency)),
    viewOf: (caller) => (isStaff(caller) ? staff : customer)(caller),
    exported: openExportView(exportSpec(specs.own, decimalsOf(currency))),
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
    reply: (status, row, headers = {}) => {
      const values: (string | null)[] = Object.values(row);
      return { status, headers, etag: weakEtagOf(values.at(-1) ?? ''), json: write(values, caller) };
    },
  });
}

function openExportView(spec: CollectionSpec<Caller>): ExportView {
  const write = writeAll(spec);
  // No member of an export depends on the caller.
  return { columns: selectAll(spec), write: (row) => write(Object.values(row), undefined as never) };
}

/** The present order, in a transaction that has locked or inserted it. */
export async function showOrder(
  tx: Transaction,
  orders: Orders,
  caller: Caller,
  order: { readonly id: string; readonly accountId: string },
): Promise<Reply> {
  const { columns, reply } = orders.viewOf(caller);
  const [row] = await sql(tx, `SELECT ${columns} FROM orders WHERE id = $1 AND account_id = $2`, [
    order.id,
    order.accountId,
  ]);
  return reply(200, row ?? {});
}

export interface LockedOrder {
  readonly id: string;
  readonly accountId: string;
  readonly reservationId: string;
  readonly status: OrderStatus;
  readonly version: number;
  readonly totalMinor: number;
  readonly currency: string;
}

export const selectOrder = `SELECT id, account_id AS "accountId", reservation_id AS "reservationId", status, version,
  total_minor AS "totalMinor", currency FROM orders`;

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
  requireMatch(headers, weakEtagOf(version), etagOf(version));
}

export function noSuchOrder(): Problem {
  return new Problem('not-found', 'There is no order with this id.');
}
