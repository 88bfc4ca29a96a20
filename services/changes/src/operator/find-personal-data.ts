// Finds the personal data of an account that changes still stores.
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readDatabaseConfig } from '../config.ts';

const places = `
  SELECT place, rows FROM (
    SELECT 'webhooks' AS place, count(*)::int AS rows FROM webhooks WHERE owner_id = $1
    UNION ALL SELECT 'idempotency_keys', count(*)::int FROM idempotency_keys WHERE account_id = $1::text
  ) AS places WHERE rows > 0`;

/**
 * Returns the number of remaining rows in each table, and an empty list when everything is erased. Of `environment`
 * only DATABASE_URL is read.
 */
export function findPersonalData(environment: Environment, accountId: string): Promise<Record<string, number>> {
  const url = readDatabaseConfig(environment).databaseUrl;
  return withDatabase({ url, name: 'accounts verify-erased' }, async ({ pool }) => {
    const { rows } = await pool.query<{ place: string; rows: number }>(places, [accountId]);
    return Object.fromEntries(rows.map((row) => [row.place, row.rows]));
  });
}
