// The time that PostgreSQL takes for the first page of a customer's list, and of staff's list of all orders.
import { createCursors, fromQuery, openCollection, readPage } from '@shop/shared/collection';
import type pg from 'pg';
import { orderSpec } from '../../services/orders/src/order.ts';

export interface Owners {
  /** One in this many accounts has old orders. */
  readonly withArchive: number;
  /** The first account without old orders. */
  readonly without: number;
  readonly accounts: number;
}

const pages = 500;

/** @returns the median time of a page of 20, in microseconds, by list */
export async function measureLists(
  client: pg.Client,
  { withArchive, without, accounts }: Owners,
): Promise<Readonly<Record<string, number>>> {
  const cursors = createCursors([Buffer.alloc(32, 7)]);
  const own = openCollection(orderSpec('EUR', 'own'), cursors);
  const all = openCollection(orderSpec('EUR', 'all'), cursors);
  const accountOf = (n: number): string => `md5('account ' || ${n % accounts})::uuid`;
  const measure = async (query: Record<string, string>, first?: number): Promise<number> => {
    const times: number[] = [];
    const collection = first === undefined ? all : own;
    const criteria = fromQuery(collection.spec, query);
    for (let page = 0; page < pages; page += 1) {
      const account =
        first === undefined
          ? undefined
          : (await client.query(`SELECT ${accountOf(first + page * withArchive)} AS id`)).rows[0]?.id;
      const scope = account === undefined ? {} : { account };
      const began = performance.now();
      await readPage({ collection, criteria, pool: client as never, scope, context: staff as never });
      times.push((performance.now() - began) * 1_000);
    }
    return Math.round(times.sort((a, b) => a - b)[pages / 2] ?? 0);
  };
  return {
    'a customer with new orders only': await measure({}, without),
    'a customer with new and old orders': await measure({}, 0),
    'the same by totalCost': await measure({ sort: 'totalCost:asc' }, 0),
    'all orders, newest first': await measure({}),
    'all orders, oldest first': await measure({ sort: 'createdAt:asc' }),
    'all cancelled orders by updatedAt': await measure({ status: 'cancelled', sort: 'updatedAt:asc' }),
    'all pending orders': await measure({ status: 'pending' }),
  };
}

const staff = { accountId: '', scopes: new Set(['orders:read-all']) };
