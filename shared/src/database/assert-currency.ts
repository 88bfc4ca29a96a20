// Amounts are stored in minor units of one currency. The currency of a schema is set at its first use and never
// changes.
import type pg from 'pg';
import { StartError } from '../runtime/index.ts';
import { findDecimals } from '../shop/index.ts';
import type { Queryable } from './replica-lag.ts';

/**
 * Stores the currency and its decimals in a new schema, and compares them with the stored ones in every other schema.
 * The decimals can differ when another version of Node has newer data about currencies.
 * @param currency ISO 4217 code
 * @throws StartError when the amounts in the schema are in another currency, or have another number of decimals
 */
export async function assertCurrency(pool: pg.Pool, currency: string): Promise<void> {
  const decimals = findDecimals(currency);
  const values = [currency, decimals];
  await pool.query('INSERT INTO shop_currency (code, decimals) VALUES ($1, $2) ON CONFLICT DO NOTHING', values);
  // A schema of version 1.1 has no decimals.
  await pool.query('UPDATE shop_currency SET decimals = $2 WHERE code = $1 AND decimals IS NULL', values);
  const { rows } = await pool.query<Kept>('SELECT code, decimals FROM shop_currency');
  const [kept] = rows;
  if (kept?.code !== currency)
    throw new StartError(`SHOP_CURRENCY is ${currency}, but the amounts in the database are in ${kept?.code}`);
  if (kept.decimals !== decimals)
    throw new StartError(
      `the amounts in the database have ${kept.decimals} decimals, but ${currency} has ${decimals} in Node ` +
        `${process.versions.node}: start the shop with the former version of Node`,
    );
}

interface Kept {
  readonly code: string;
  readonly decimals: number;
}

/** Returns the currency of the amounts in the schema; undefined in a new schema. */
export async function storedCurrency(from: Queryable): Promise<string | undefined> {
  const { rows } = await from.query<{ code: string }>('SELECT code FROM shop_currency');
  return rows[0]?.code;
}
