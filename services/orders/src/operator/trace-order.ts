// The history of one order in the orders service, for operators.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { type OrderTrace, readOrderTrace } from '../order/order-trace.ts';

/** Returns undefined when the order does not exist. Of `environment` only DATABASE_URL is read. */
export async function traceOrder(environment: Environment, orderId: string): Promise<OrderTrace | undefined> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'trace' }, ({ pool }) => readOrderTrace(pool, orderId));
}
