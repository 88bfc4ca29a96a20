// Runs a migration and lists the reasons why it must not be applied while processes of the last release are running.
import type pg from 'pg';
import { blockedFaults, readTables } from './blocked-requests.ts';
import { readSchema, type Schema, schemaFaults } from './released-schema.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** The names in lines such as `-- Not used by the last release: column orders.note`. */
function contractedBy(text: string): Set<string> {
  return new Set([...text.matchAll(/^-- Not used by the last release: (.*\S)\s*$/gm)].map(([, name = '']) => name));
}

/**
 * Applies the migration in the transaction of the connection, and returns a line for each fault.
 * @param released the schema of the last release
 */
export async function judgeMigration(
  client: pg.Client,
  { name, text }: Migration,
  released: Schema,
): Promise<string[]> {
  const before = (await readTables(client)).filter((table) => released.has(`relation ${table.name}`));
  try {
    await client.query(text);
  } catch (error) {
    return [`${name} fails: ${error instanceof Error ? error.message : String(error)}`];
  }
  const faults = [
    ...blockedFaults(before, await readTables(client)),
    ...schemaFaults(released, await readSchema(client), contractedBy(text)),
  ];
  return faults.map((fault) => `${name}: ${fault}`);
}

/** Returns the faults of a migration whose statements run outside a transaction. */
export function concurrentFaults({ name, text }: Migration): string[] {
  const statements = text
    .replaceAll(/^\s*--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((each) => each.replaceAll(/\s+/g, ' ').trim())
    .filter((each) => each !== '');
  return statements.flatMap((each, position) => {
    if (/^DROP INDEX CONCURRENTLY IF EXISTS \w+$/.test(each)) return [];
    const [, index = ''] = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) ON /.exec(each) ?? [];
    const isRepeatable = statements[position - 1] === `DROP INDEX CONCURRENTLY IF EXISTS ${index}`;
    return isRepeatable ? [] : [`${name}: "${each}" is no new index, or its remains are not removed before`];
  });
}
