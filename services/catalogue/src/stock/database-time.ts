import { sql, type Transaction } from '@shop/shared/database';

/** The time of the transaction by the database's clock, from which all times of an order come. */
export async function databaseTime(tx: Transaction): Promise<Date> {
  const [row] = await sql<{ now: Date }>(tx, 'SELECT now()');
  if (row === undefined) throw new Error('the database returned no time');
  return row.now;
}
