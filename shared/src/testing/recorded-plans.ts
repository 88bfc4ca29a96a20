// The plans of the statements that a function runs in a transaction, for tests of indexes.
import pg from 'pg';
import type { Transaction } from '../database/index.ts';
import { nodesOf, type Plan } from './plans.ts';

/** How PostgreSQL reads one table in one statement. */
interface TableReads {
  /** The names of the indexes in alphabetical order, and `Seq Scan` when the whole table is read. */
  readonly indexes: readonly string[];
  /** The number of rows that are read, including those that the conditions exclude. */
  readonly rows: number;
}

/**
 * Calls `work` in a transaction and rolls it back. Returns how each statement that names the table reads it: first by
 * the plan for all values, which a prepared statement may use, and then by the plan for the given values.
 */
export async function recordPlans(
  client: pg.Client,
  table: string,
  work: (tx: Transaction) => Promise<unknown>,
): Promise<TableReads[]> {
  const recorded: TableReads[] = [];
  const query = async (statement: string | pg.QueryConfig, given: unknown[] = []) => {
    const { text, values = given } = typeof statement === 'string' ? { text: statement } : statement;
    if (text.includes(table)) {
      for (const mode of ['force_generic_plan', 'force_custom_plan'])
        recorded.push(readsOf(await explain(client, mode, text, values), table));
    }
    return client.query(text, values);
  };
  await client.query('BEGIN');
  try {
    await work({ connection: { query }, finished: undefined } as unknown as Transaction);
  } finally {
    await client.query('ROLLBACK');
  }
  return recorded;
}

/** Executes the statement, and rolls its changes back. */
async function explain(client: pg.Client, mode: string, text: string, values: readonly unknown[]): Promise<Plan> {
  const literals = values.map((value) => pg.escapeLiteral(String(value)));
  const parameters = literals.length > 0 ? `(${literals.join()})` : '';
  await client.query(`SAVEPOINT recorded; SET LOCAL plan_cache_mode = ${mode}; PREPARE recorded AS ${text}`);
  const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE recorded ${parameters}`);
  await client.query('DEALLOCATE recorded; ROLLBACK TO recorded');
  return rows[0]['QUERY PLAN'][0].Plan;
}

function readsOf(plan: Plan, table: string): TableReads {
  const scans = nodesOf(plan).filter(
    (node) => node['Node Type'].endsWith('Scan') && (node['Relation Name'] ?? table) === table,
  );
  const indexes = scans
    .map((node) => node['Index Name'] ?? node['Node Type'])
    .filter((name) => name.startsWith(table) || name === 'Seq Scan');
  const rows = scans
    .filter((node) => node['Relation Name'] === table)
    .reduce((sum, node) => {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      return sum + node['Actual Loops'] * (node['Actual Rows'] + removed);
    }, 0);
  return { indexes: [...new Set(indexes)].sort(), rows };
}
