// Amounts are stored in minor units of one currency. A schema keeps the currency with which it was first used.
import type pg from 'pg';
import { StartError } from '../runtime/index.ts';
import type { Queryable } from './replica-lag.ts';

/**
 * Stores the currency in a new schema, and compares it with the stored one in every other schema.
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
