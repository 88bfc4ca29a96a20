// Finds new constraints and unique indexes of tables of the last release. PostgreSQL also applies them to the rows that
// processes of the last release write, even when they are NOT VALID.
import type pg from 'pg';
import type { Schema } from './released-schema.ts';

export interface Restriction {
  /** Such as "check small of orders". */
  readonly name: string;
  readonly definition: string;
  /** The tables whose changes it can refuse. A foreign key refuses changes of both of its tables. */
  readonly tables: readonly string[];
}

const statement = `
  SELECT format('%s %s of %s', CASE contype WHEN 'c' THEN 'check' WHEN 'f' THEN 'foreign key' ELSE 'exclusion' END,
      conname, relname) AS name,
    regexp_replace(pg_get_constraintdef(pg_constraint.oid), ' NOT VALID$', '') AS definition,
    ARRAY(SELECT relname FROM pg_class WHERE oid IN (conrelid, confrelid))::text[] AS tables
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
  WHERE relnamespace = current_schema()::regnamespace AND contype IN ('c', 'f', 'x') AND conparentid = 0
  UNION ALL
  SELECT 'unique index ' || indexrelid::regclass, pg_get_indexdef(indexrelid), ARRAY[relname]::text[]
  FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
  WHERE relnamespace = current_schema()::regnamespace AND indisunique`;

export async function readRestrictions(client: pg.Client): Promise<Restriction[]> {
  return (await client.query<Restriction>(statement)).rows;
}

/**
 * Returns a line for each new restriction of a used table, unless the migration declares that the last release complies.
 * @param text the migration, with lines such as `-- Satisfied by the last release: check small of orders`
 */
export function restrictionFaults(
  before: readonly Restriction[],
  after: readonly Restriction[],
  used: Schema,
  text: string,
): string[] {
  const declared = new Set(
    [...text.matchAll(/^-- Satisfied by the last release: (.*\S)\s*$/gm)].map(([, name]) => name),
  );
  const former = new Set(before.map(({ name, definition }) => `${name} ${definition}`));
  return after
    .filter(({ name, definition }) => !former.has(`${name} ${definition}`) && !declared.has(name))
    .filter(({ tables }) => tables.some((table) => used.has(`relation ${table}`)))
    .map(
      ({ name }) =>
        `${name} is new, and can refuse changes by the last release: add it one release later, or the line ` +
        `"-- Satisfied by the last release: ${name}" if it refuses none`,
    );
}
