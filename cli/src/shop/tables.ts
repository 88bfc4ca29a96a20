// Reads the tables and sequences of a schema from PostgreSQL, so that a backup includes everything that a migration
// adds.
import pg from 'pg';

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The primary key, or all columns of a table without one. */
  readonly key: readonly string[];
  /** Columns with a collation. */
  readonly collated: readonly string[];
}

interface FoundTable extends Table {
  /** The tables that it refers to. */
  readonly refersTo: readonly string[];
}

// Partitions are read through their table. The manifest lists the applied migrations.
const query = `
  SELECT c.relname AS name,
    (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
     WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns,
    coalesce(
      (SELECT array_agg(attname::text ORDER BY array_position(indkey::smallint[], attnum))
       FROM pg_index JOIN pg_attribute ON attrelid = c.oid AND attnum = ANY (indkey::smallint[])
       WHERE indrelid = c.oid AND indisprimary),
      (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
       WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)) AS key,
    (SELECT coalesce(array_agg(attname::text), '{}') FROM pg_attribute
     WHERE attrelid = c.oid AND attnum > 0 AND attcollation <> 0) AS collated,
    (SELECT coalesce(array_agg(DISTINCT confrelid::regclass::text), '{}') FROM pg_constraint
     WHERE conrelid = c.oid AND contype = 'f' AND confrelid <> c.oid) AS "refersTo"
  FROM pg_class AS c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname <> 'migrations'
  ORDER BY c.relname`;

/** Returns all tables of the client's schema. Each table follows the tables that it refers to. */
export async function findTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<FoundTable>(query);
  const sorted: FoundTable[] = [];
  for (let left = rows; left.length > 0; left = left.filter((table) => !sorted.includes(table))) {
    const free = left.filter(({ refersTo }) => !left.some(({ name }) => refersTo.includes(name)));
    if (free.length === 0)
      throw new Error(`the tables ${left.map(({ name }) => name).join(', ')} refer to one another`);
    sorted.push(...free);
  }
  return sorted.map(({ refersTo: _refersTo, ...table }) => table);
}

/** Returns the last value of each used sequence. */
export async function findSequences(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `SELECT sequencename AS name, last_value AS last FROM pg_sequences
     WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, Number(last)]));
}

const list = (names: readonly string[]): string => names.map((name) => pg.escapeIdentifier(name)).join(', ');

/**
 * Returns the COPY statement that writes all rows of a table in the order of its key, which is the same on every
 * server.
 */
export function copyOut({ name, columns, key, collated }: Table): string {
  const order = key.map((column) => pg.escapeIdentifier(column) + (collated.includes(column) ? ' COLLATE "C"' : ''));
  return `COPY (SELECT ${list(columns)} FROM ${pg.escapeIdentifier(name)} ORDER BY ${order.join(', ')}) TO STDOUT`;
}

/** Returns the COPY statement that reads these rows. */
export function copyIn({ name, columns }: Table): string {
  return `COPY ${pg.escapeIdentifier(name)} (${list(columns)}) FROM STDIN`;
}

/** Settings with which rows are serialized identically on every server. */
export const sameText = "SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL bytea_output = 'hex'";
