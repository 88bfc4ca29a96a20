// Parameterised SQL inside a transaction.
import { measureStatement } from './measure-statement.ts';
import type { Transaction } from './transaction.ts';

/** A value for a parameter `$1`, `$2`, … of a statement. */
export type SqlValue = string | number | boolean | Date | Buffer | null | readonly (string | number | boolean | null)[];

/**
 * Statement → name under which each connection prepares it once. For most statements, planning costs PostgreSQL more
 * than executing.
 */
const names = new Map<string, string>();
const maximumNames = 500;

export interface SqlOptions {
  /**
   * Plans the statement for each execution. For a statement that joins a list with a growing table: a cached plan from
   * the time when the table was small would always read the whole table.
   */
  readonly planEachTime?: boolean;
}

/**
 * Runs one statement in the transaction and returns its rows, including those of RETURNING. The SQL text must be one of
 * few constants of the source code, because each is prepared once per connection, unless it is planned each time. The
 * caller guarantees that the row type matches the columns of the statement.
 */
export async function sql<Row extends object>(
  tx: Transaction,
  statement: string,
  values: readonly SqlValue[] = [],
  { planEachTime = false }: SqlOptions = {},
): Promise<Row[]> {
  // COMMIT returns the connection to the pool, so a later statement would run in another transaction.
  if (tx.finished !== undefined) throw new Error('the transaction is over');
  const name = planEachTime || values.length === 0 ? undefined : (names.get(statement) ?? nameFor(statement));
  const query = values.length === 0 ? statement : { text: statement, values: [...values], ...(name && { name }) };
  return (await measureStatement(statement, () => tx.connection.query<Row>(query))).rows;
}

function nameFor(statement: string): string | undefined {
  if (names.size >= maximumNames) return undefined;
  const name = `sql_${names.size + 1}`;
  names.set(statement, name);
  return name;
}
