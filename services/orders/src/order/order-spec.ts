// The members of an order, and the filters and sort orders of its lists.
import type { Caller } from '@shop/shared/auth';
import {
  type CollectionSpec,
  choice,
  decimal,
  json,
  listed,
  matched,
  none,
  ordered,
  text,
  time,
  uuid,
} from '@shop/shared/collection';
import { findDecimals } from '@shop/shared/shop';
import {
  cancellationSql,
  customerSql,
  historySql,
  invoicesSql,
  isDueSql,
  linesSql,
  movementsSql,
  paymentSql,
  priceSql,
  returnsSql,
  staffAddressSql,
} from './order-columns.ts';
import type { Prices } from './order-prices.ts';
import { allowedActions, type OrderStatus, statuses } from './order-status.ts';

/**
 * The three views of orders: the orders of one account for its owner, the same orders for staff, and the orders of all
 * accounts for staff.
 */
export type OrderList = 'own' | 'account' | 'all';

/** The members that the pricing of an order adds. */
const prices = [
  'shipping',
  'discounts',
  'discountTotal',
  'taxes',
  'taxTotal',
  'pricesIncludeTax',
  'taxExempt',
  'taxExemption',
] as const satisfies readonly (keyof Prices)[];

/**
 * Returns all members of an order. A member that is not in this table appears in no response and in no SQL statement.
 * The indexes of migration 0013 serve the orders of all accounts.
 */
export function orderSpec(currency: string, list: OrderList): CollectionSpec<Caller> {
  const decimals = findDecimals(currency);
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
        ...(ofAll && { scansByValue: ['createdAt', 'updatedAt'] }),
      },
      createdAt: { type: time(), operators: ordered, column: 'created_at', sortable: true },
      updatedAt: { type: time(), operators: ordered, column: 'updated_at', sortable: ofAll },
      accountId: { type: uuid(), operators: none, column: 'account_id' },
      ...(forStaff && { customer: { type: json(), operators: none, column: customerSql } }),
      itemsSummary: { type: json(), operators: none, column: linesSql(decimals) },
      ...Object.fromEntries(
        prices.map((member) => [member, { type: json(), operators: none, column: priceSql(member) }]),
      ),
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

/**
 * Returns an order in an export: the members that do not depend on the caller, the tax id because of which it is free
 * of tax, the history, the returns, the invoices, and the movements of money.
 */
export function exportSpec(spec: CollectionSpec<Caller>, decimals: number): CollectionSpec<Caller> {
  const forEveryCaller = Object.entries(spec.fields).filter(([, { write }]) => write === undefined);
  return {
    ...spec,
    fields: {
      ...Object.fromEntries(forEveryCaller),
      taxId: { type: json(), operators: none, column: 'tax_id' },
      history: { type: json(), operators: none, column: historySql },
      returns: { type: json(), operators: none, column: returnsSql(decimals) },
      invoices: { type: json(), operators: none, column: invoicesSql },
      moneyMovements: { type: json(), operators: none, column: movementsSql(decimals) },
    },
  };
}
