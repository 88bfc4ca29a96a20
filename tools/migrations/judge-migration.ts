// Runs a migration and lists the reasons why it must not be applied while processes of the last release are running.
import type pg from 'pg';
import { concurrentStatements } from '../../shared/src/database/migrate.ts';
import { blockedFaults, readTables } from './blocked-requests.ts';
import { readSchema, type Schema, schemaFaults, withoutUnused } from './released-schema.ts';
import { readRestrictions, restrictionFaults } from './restrictions.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** Whether the statements of the migration run outside a transaction. */
export const isConcurrent = ({ name }: Migration): boolean => name.endsWith('.concurrently.sql');

/**
 * Applies the migration, and returns a line for each fault. Unless it is concurrent, the connection must have begun a
 * transaction.
 * @param used the objects that the last release uses
 */
export async function judgeMigration(client: pg.Client, migration: Migration, used: Schema): Promise<string[]> {
  const { name, text } = migration;
  const before = await readTables(client);
  const names = new Set(before.map((table) => table.name).filter((table) => used.has(`relation ${table}`)));
  const restrictions = await readRestrictions(client);
  try {
    for (const statement of isConcurrent(migration) ? concurrentStatements(text) : [text])
      await client.query(statement);
  } catch (error) {
    return [`${name} fails: ${error instanceof Error ? error.message : String(error)}`];
  }
  const faults = [
    ...(isConcurrent(migration) ? concurrentFaults(text) : blockedFaults(before, await readTables(client), names)),
    ...restrictionFaults(restrictions, await readRestrictions(client), used, text),
    ...schemaFaults(withoutUnused(used, text), await readSchema(client)),
  ];
  return faults.map((fault) => `${name}: ${fault}`);
}

/** Returns a line for each statement that must not be in a concurrent migration. */
export function concurrentFaults(text: string): string[] {
  const statements = concurrentStatements(text.replaceAll(/^\s*--.*$/gm, ''))
    .map((each) => each.replaceAll(/\s+/g, ' ').trim())
    .filter((each) => each !== '');
  return statements.flatMap((each, position) => {
    if (/^DROP INDEX CONCURRENTLY IF EXISTS \w+$/.test(each)) return [];
    const [, index = ''] = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) ON /.exec(each) ?? [];
    const isRepeatable = statements[position - 1] === `DROP INDEX CONCURRENTLY IF EXISTS ${index}`;
    return isRepeatable ? [] : [`"${each}" is no new index, or its remains are not removed before`];
  });
}
