// Finds the tables on which requests wait for as long as a migration takes for all rows. It needs no rows: PostgreSQL
// counts a scan of an empty table, too.
import type pg from 'pg';

export interface TableState {
  readonly name: string;
  /** The file of the table, which is another one after the table was rewritten. */
  readonly file: string;
  /** The scans of the whole table by this connection that PostgreSQL has not yet added to its statistics. */
  readonly scans: number;
  /** The locks of this transaction on the table. */
  readonly locks: readonly string[];
}

const statement = `
  SELECT relname AS name, relfilenode::text AS file, coalesce(pg_stat_get_xact_numscans(oid), 0)::int AS scans,
    ARRAY(SELECT mode FROM pg_locks WHERE relation = pg_class.oid AND pid = pg_backend_pid() AND granted) AS locks
  FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`;

/** With these locks on a table or on its rows, requests that write wait until the end of the transaction. */
const blocking = new Set([
  'RowExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
]);

export async function readTables(client: pg.Client): Promise<TableState[]> {
  return (await client.query<TableState>(statement)).rows;
}

/**
 * Returns a line for each table that is read or written as a whole while requests wait.
 * @param before the tables at the beginning of the transaction
 * @param after the tables at its end, before COMMIT
 * @param used the names of the tables that the last release uses
 */
export function blockedFaults(
  before: readonly TableState[],
  after: readonly TableState[],
  used: ReadonlySet<string>,
): string[] {
  return before.flatMap(({ name }) => {
    const present = after.find((table) => table.name === name);
    if (present === undefined || !used.has(name)) return [];
    // A table that takes the place of another one by its name keeps its file.
    const former = before.find(({ file }) => file === present.file);
    if (former === undefined) return [`${name} is written anew, and requests wait`];
    const locks = present.locks.filter((lock) => blocking.has(lock));
    return present.scans > former.scans && locks.length > 0
      ? [`${name} is read as a whole, and requests wait (${locks.join(', ')})`]
      : [];
  });
}
