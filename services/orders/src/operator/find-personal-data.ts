// Finds the personal data of an account that orders still stores.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { countPersonalData } from '../order/erase-orders.ts';

/**
 * Returns the number of remaining rows in each table, and an empty list when everything is erased. Of `environment`
 * only DATABASE_URL is read.
 */
export function findPersonalData(environment: Environment, accountId: string): Promise<Record<string, number>> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'accounts verify-erased' }, ({ pool }) => countPersonalData(pool, accountId));
}
