// The members of a return, and the filters and sort orders of its lists.
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
import { stockReturnedSql } from '../order/order-columns.ts';
import { allowedReturnActions, type ReturnStatus, returnStatuses } from './return-status.ts';

/** @param list the returns of one account, or those of all accounts. The indexes of migration 0031 serve both. */
export function returnSpec(currency: string, list: 'account' | 'all'): CollectionSpec<Caller> {
  const ofAll = list === 'all';
  return {
    name: 'returns',
    from: 'returns',
    ...(!ofAll && { scope: { account: { column: 'account_id', cast: 'uuid' } } }),
    parameters: ['accountId'],
    fields: {
      id: { type: uuid(), operators: listed, column: 'id', sortable: true },
      orderId: {
        type: uuid(),
        operators: listed,
        column: 'order_id',
        ...(ofAll && { scansByValue: ['createdAt'] }),
      },
      accountId: { type: uuid(), operators: none, column: 'account_id' },
      status: {
        type: choice(returnStatuses),
        operators: matched,
        column: 'status',
        ...(ofAll && { scansByValue: ['createdAt'] }),
      },
      lines: { type: json(), operators: none, column: 'lines' },
      comment: { type: text(500), operators: none, column: 'comment' },
      refusalReason: { type: text(500), operators: none, column: 'refusal_reason' },
      refund: { type: decimal(findDecimals(currency)), operators: none, column: 'refund_minor' },
      currency: { type: text(3), operators: none, column: 'NULL::text', write: () => JSON.stringify(currency) },
      stockReturned: { type: json(), operators: none, column: `json_strip_nulls${stockReturnedSql}` },
      allowedActions: {
        type: json(),
        operators: none,
        column: "(account_id || ' ' || status)",
        write: (column, caller) => {
          const [accountId = '', status] = column?.split(' ') ?? [];
          return JSON.stringify(allowedReturnActions(caller, accountId, status as ReturnStatus));
        },
      },
      createdAt: { type: time(), operators: ordered, column: 'created_at', sortable: true },
      updatedAt: { type: time(), operators: none, column: 'updated_at' },
    },
    defaultSort: [
      { field: 'createdAt', direction: 'desc' },
      { field: 'id', direction: 'desc' },
    ],
  };
}
