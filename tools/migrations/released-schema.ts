// The objects of a service's schema on which the processes of a release rely, and the differences that break them.
import type pg from 'pg';

export interface SchemaObject {
  /** What must stay the same, in words. */
  readonly definition: string;
  /** Of a column: whether rows that do not name it get a default. */
  readonly hasDefault: boolean;
  /** The name of the table with which the object is removed, such as that of a column or an index. */
  readonly ofTable: string | null;
}

/** Name of an object, such as "column orders.status" → the object. */
export type Schema = ReadonlyMap<string, SchemaObject>;

const statement = `
  WITH relations AS (
    SELECT oid, relname, relkind FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S'))
  SELECT 'relation ' || relname AS name, relkind::text AS definition, false AS "hasDefault",
    (SELECT 'relation ' || owner.relname FROM pg_depend JOIN relations AS owner ON owner.oid = refobjid
     WHERE classid = 'pg_class'::regclass AND objid = relations.oid AND deptype IN ('a', 'i')) AS "ofTable"
  FROM relations
  UNION ALL
  SELECT format('column %s.%s', relname, attname),
    format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END,
    atthasdef OR attidentity <> '', 'relation ' || relname
  FROM relations JOIN pg_attribute ON attrelid = relations.oid WHERE attnum > 0 AND NOT attisdropped AND relkind <> 'S'
  UNION ALL
  SELECT format('function %s(%s)', proname, pg_get_function_identity_arguments(oid)), pg_get_function_result(oid),
    false, NULL
  FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
  UNION ALL
  SELECT format('trigger %s of %s', tgname, relname), '', false, 'relation ' || relname
  FROM relations JOIN pg_trigger ON tgrelid = relations.oid WHERE NOT tgisinternal
  UNION ALL
  SELECT 'unique index ' || indexrelid::regclass, pg_get_indexdef(indexrelid), false, 'relation ' || relname
  FROM relations JOIN pg_index ON indrelid = relations.oid WHERE indisunique
  UNION ALL
  SELECT 'type ' || typname, coalesce((SELECT string_agg(enumlabel, ', ' ORDER BY enumsortorder) FROM pg_enum
    WHERE enumtypid = pg_type.oid), ''), false, NULL
  FROM pg_type WHERE typnamespace = current_schema()::regnamespace AND typtype IN ('e', 'd')`;

/** Reads the schema that is the first one of the connection's search path. */
export async function readSchema(client: pg.Client): Promise<Schema> {
  const { rows } = await client.query<SchemaObject & { readonly name: string }>(statement);
  return new Map(rows.map(({ name, ...object }) => [name, object]));
}

/**
 * Returns the schema without the objects that a migration names as unused, and without the objects of unused tables.
 * @param text the migration, with lines such as `-- Not used by the last release: column orders.note`
 */
export function withoutUnused(schema: Schema, text: string): Schema {
  const lines = text.matchAll(/^-- Not used by the last release: (.*\S)\s*$/gm);
  const unused = new Set([...lines].map(([, name = '']) => name));
  return new Map([...schema].filter(([name, { ofTable }]) => !unused.has(name) && !unused.has(ofTable ?? '')));
}

/** Returns a line for each difference that processes of the release before cannot work with. */
export function schemaFaults(before: Schema, after: Schema): string[] {
  const changed = [...before].flatMap(([name, old]) => {
    const present = after.get(name);
    if (present === undefined) return [`${name} was removed`];
    if (present.definition !== old.definition) return [`${name} was ${old.definition} and is ${present.definition}`];
    return old.hasDefault && !present.hasDefault ? [`${name} has lost its default`] : [];
  });
  const required = [...after].flatMap(([name, { definition, hasDefault, ofTable }]) => {
    const isRequired = definition.endsWith(' NOT NULL') && !hasDefault;
    const isAdded = !before.has(name) && ofTable !== null && before.has(ofTable);
    return isAdded && isRequired ? [`${name} is new and required`] : [];
  });
  return [...changed, ...required];
}
