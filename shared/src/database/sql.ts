// Parameterised SQL inside a transaction.
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';

/** A value that a statement's `$1`, `$2`, … may take. */
export type SqlValue = string | number | boolean | Date | null | readonly string[] | readonly number[];

/**
 * Runs one statement in the transaction and returns its rows (also those of RETURNING).
 * The row type is the caller's promise of what the statement's columns are.
 */
export async function sql<Row extends object>(
  tx: Transaction,
  statement: string,
  values: readonly SqlValue[] = [],
): Promise<Row[]> {
  const { sequelize } = tx as Transaction & { readonly sequelize: Sequelize };
  return sequelize.query<Row>(statement, {
    // sequelize rewrites `$` in a statement as soon as it is given values
    ...(values.length === 0 ? {} : { bind: [...values] }),
    transaction: tx,
    type: QueryTypes.SELECT,
  });
}
