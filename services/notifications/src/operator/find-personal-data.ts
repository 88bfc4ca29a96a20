// Finds the personal data of an account that notifications still stores.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';

const places = `
  SELECT place, rows FROM (
    SELECT 'recipients' AS place, count(*)::int AS rows FROM recipients WHERE account_id = $1
    UNION ALL SELECT 'notifications', count(*)::int FROM notifications WHERE account_id = $1 AND details::text <> '{}'
  ) AS places WHERE rows > 0`;

/**
 * Returns the number of remaining rows in each table, and an empty list when everything is erased. Of `environment`
 * only DATABASE_URL is read.
 */
export function findPersonalData(environment: Environment, accountId: string): Promise<Record<string, number>> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'accounts verify-erased' }, async ({ pool }) => {
    const { rows } = await pool.query<{ place: string; rows: number }>(places, [accountId]);
    return Object.fromEntries(rows.map((row) => [row.place, row.rows]));
  });
}
