// Converts rows as PostgreSQL prints them into JSON text, without a model or parsed values.
import { type CollectionSpec, fieldNamed, membersOf } from '../grammar/spec.ts';

/** Writes the JSON object of one row. */
export type RowWriter<Context> = (row: readonly (string | null)[], context: Context) => string;

/**
 * Returns a writer for these members, in this order.
 * @param columns the index of each field's column in the row
 */
export function rowWriter<Context>(
  spec: CollectionSpec<Context>,
  members: readonly string[],
  columns: ReadonlyMap<string, number>,
): RowWriter<Context> {
  const writers = members.map((name) => {
    const field = spec.fields[name];
    const index = columns.get(field?.column ?? '');
    if (!field || index === undefined) throw new RangeError(`${spec.name} has no column for ${name}`);
    const label = `${JSON.stringify(name)}:`;
    return { first: `{${label}`, next: `,${label}`, index, own: field.write, usual: field.type.write };
  });
  return (row, context) => {
    let members = '';
    for (const { first, next, index, own, usual } of writers) {
      const column = row[index] ?? null;
      const text = own ? own(column, context) : column === null ? undefined : usual(column);
      if (text !== undefined) members += (members === '' ? first : next) + text;
    }
    return members === '' ? '{}' : `${members}}`;
  };
}

/**
 * Returns the SELECT or RETURNING list of all members as text, in the order of the table. For operations that return
 * one resource.
 */
export function selectAll(spec: CollectionSpec<never>): string {
  return membersOf(spec)
    .map((name) => fieldNamed(spec, name))
    .map(({ column }, index) => `${column}::text AS c${index}`)
    .join(', ');
}

/** Returns a writer for rows of `selectAll`. */
export function writeAll<Context>(spec: CollectionSpec<Context>): RowWriter<Context> {
  const members = membersOf(spec);
  const positions = new Map(members.map((name, index) => [fieldNamed(spec, name).column, index]));
  return rowWriter(spec, members, positions);
}
