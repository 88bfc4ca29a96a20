// Metrics of the units that accounts reserve in unprocessed orders.
import type { Database } from '@shop/shared/database';
import { observe, sharedRead } from '@shop/shared/telemetry';

interface Holds {
  readonly accounts: number;
  readonly orders: number;
  readonly units: number;
}

// The table has a row for each account that ever ordered, and no index on the figures, because they change with each
// order.
const holds = `
  SELECT count(*)::float8 AS accounts, coalesce(max(orders), 0) AS orders, coalesce(max(units), 0)::float8 AS units
  FROM account_holds WHERE units > 0`;

/** Milliseconds between two readings of the whole table. */
const readEvery = 60_000;

/** Observes the number of accounts with unprocessed orders, and the maximum that one of them reserves. */
export function observeHolds({ pool }: Database): void {
  const read = sharedRead(async () => (await pool.query<Holds>(holds)).rows[0], readEvery);
  const accounts = { unit: '{account}', description: 'Accounts with orders that nobody has begun to process.' };
  observe('shop.holds.accounts', accounts, async (tell) => tell((await read())?.accounts ?? 0));
  const orders = { unit: '{order}', description: 'The most such orders that one account has.' };
  observe('shop.holds.largest_orders', orders, async (tell) => tell((await read())?.orders ?? 0));
  const units = { unit: '{unit}', description: 'The most units that one account has in such orders.' };
  observe('shop.holds.largest_units', units, async (tell) => tell((await read())?.units ?? 0));
}
