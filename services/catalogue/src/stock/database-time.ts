import { sql, type Transaction } from '@shop/shared/database';

/** Returns the time of the transaction by the database's clock, which is the source of all times of an order. */
export async function databaseTime(tx: Transaction): Promise<Date> {
  const [row] = await sql<{ now: Date }>(tx, 'SELECT now()');
  if (row === undefined) throw new Error('the database returned no time');
  return row.now;
}
