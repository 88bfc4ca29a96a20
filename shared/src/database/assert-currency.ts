// Amounts are stored in minor units of one currency: a schema keeps the currency that it was begun with.
import type pg from 'pg';
import { StartError } from '../runtime/index.ts';
import type { Queryable } from './replica-lag.ts';

/**
 * Notes the currency in a new schema, and holds it against the noted one in every other.
 * @param currency ISO 4217 code
 * @throws StartError when the amounts in the schema are in another currency
 */
export async function assertCurrency(pool: pg.Pool, currency: string): Promise<void> {
  await pool.query('INSERT INTO shop_currency (code) VALUES ($1) ON CONFLICT DO NOTHING', [currency]);
  const kept = await storedCurrency(pool);
  if (kept !== currency) {
    throw new StartError(`SHOP_CURRENCY is ${currency}, but the amounts in the database are in ${kept}`);
  }
}

/** The currency of the amounts in the schema; undefined in a new schema. */
export async function storedCurrency(from: Queryable): Promise<string | undefined> {
  const { rows } = await from.query<{ code: string }>('SELECT code FROM shop_currency');
  return rows[0]?.code;
}
