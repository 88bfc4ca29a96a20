// Lists for operators the units that accounts reserve in unprocessed orders.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';

export interface AccountHold {
  readonly accountId: string;
  readonly orders: number;
  readonly units: number;
}

/**
 * Returns the accounts that reserve the most units, at most `most` of them. Of `environment` only DATABASE_URL is read.
 */
export function listHolds(environment: Environment, most: number): Promise<AccountHold[]> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'stock holds' }, async ({ pool }) => {
    const { rows } = await pool.query<AccountHold>(
      `SELECT account_id AS "accountId", orders, units FROM account_holds
       WHERE units > 0 ORDER BY units DESC, account_id LIMIT $1`,
      [most],
    );
    return rows;
  });
}
