// The number of orders in each state, for operators.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { readOrderCounts } from '../order/count-orders.ts';
import { type OrderStatus, statuses } from '../order/order-status.ts';

export type OrderCounts = Readonly<Record<OrderStatus, number>>;

/** Counts the orders exactly, at one moment. Of `environment` only DATABASE_URL is read. */
export function countOrders(environment: Environment): Promise<OrderCounts> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'count orders' }, async ({ pool }) => {
    const counts = await readOrderCounts(pool);
    return Object.fromEntries(statuses.map((status) => [status, counts.get(status) ?? 0])) as OrderCounts;
  });
}
