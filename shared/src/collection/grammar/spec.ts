// The table of a collection's fields. Only identifiers in this table reach SQL.
import type { FieldType } from './field-types.ts';

export const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'] as const;
export type Operator = (typeof operators)[number];
export type Direction = 'asc' | 'desc';

/** Operators of fields that have an order. */
export const ordered: readonly Operator[] = operators;
/** Operators of fields that are compared for equality only. */
export const matched: readonly Operator[] = ['eq', 'ne', 'in'];
/** The operators of fields with filters that list values. */
export const listed: readonly Operator[] = ['eq', 'in'];
/** The empty list of operators, for fields that are only shown. */
export const none: readonly Operator[] = [];

export interface Field<Context = unknown> {
  readonly type: FieldType;
  /** The operators of a filter on the field; empty when it cannot be filtered by. */
  readonly operators: readonly Operator[];
  /** The column, or an SQL expression when the field is only shown. It is trusted SQL text from the source code. */
  readonly column: string;
  readonly sortable?: boolean;
  /** Whether the column may be NULL. The member is then absent, last in every sort order, and meets no condition. */
  readonly nullable?: boolean;
  /**
   * The leading sort fields for which an index (this column, that column, id) exists. An `in` on this field is then
   * read as one ordered scan for each value, and the scans are merged. Without it, the index of the sort order is
   * filtered, which may read the whole table when the matching rows are rare or old.
   */
  readonly scansByValue?: readonly string[];
  /**
   * Whether an index finds the one or the few rows that have a value. The rows that a condition `eq` or `in` matches
   * are then read first and sorted.
   */
  readonly fewRows?: boolean;
  /** The values of the type's closed list that rows can have, if not all of them. Other values match nothing. */
  readonly occurring?: readonly string[];
  /** The range of whole numbers in the column: the bounds of its CHECK constraint. */
  readonly range?: { readonly from: number; readonly to: number };
  /**
   * For a range of few values: the sort fields for which an index (this column, that column, id) exists. A sort by this
   * field and then by one of those is read value by value.
   */
  readonly lowCardinality?: { readonly indexedWith: readonly string[] };
  /** Whether the field is only for filters and not a member of the response. */
  readonly filterOnly?: boolean;
  /**
   * The SQL of a condition that is not a comparison with the column. Only the operators `eq` and `in` are permitted.
   */
  readonly condition?: (operator: Operator, parameter: string) => string;
  /** Writes JSON text instead of the type's own function; undefined omits the member. */
  readonly write?: (column: string | null, context: Context) => string | undefined;
}

export interface SortCriterion {
  readonly field: string;
  readonly direction: Direction;
}

/** Restricts the rows: a column equals the value, or the row meets a condition on it. The SQL text is trusted. */
export type ScopeCondition = { readonly cast: FieldType['cast'] } & (
  | { readonly column: string }
  | { readonly condition: (parameter: string) => string }
);

export interface CollectionSpec<Context = unknown> {
  /**
   * The name of the collection. It is a part of every cursor, so that a cursor of one collection is invalid in another.
   */
  readonly name: string;
  /** The table, with alias and joins if needed, as trusted SQL text. */
  readonly from: string;
  /**
   * Every public member in the order of the response, and fields for filters only. `id` has to be among them, sortable
   * and with `fewRows`.
   */
  readonly fields: Readonly<Record<string, Field<Context>>>;
  readonly defaultSort: readonly SortCriterion[];
  /** Conditions for which every read needs a value, such as the owner's account. */
  readonly scope?: Readonly<Record<string, ScopeCondition>>;
  /** Parameters of a query and members of a body that the operation itself reads, such as the account of a list. */
  readonly parameters?: readonly string[];
}

/** Returns the field of that name. Only own members count, so `__proto__` and `constructor` are not fields. */
export function findField<Context>(spec: CollectionSpec<Context>, name: string): Field<Context> | undefined {
  return Object.hasOwn(spec.fields, name) ? spec.fields[name] : undefined;
}

/** @throws RangeError for an unknown field. This is a bug, because names from clients are checked before. */
export function fieldNamed(spec: CollectionSpec<never>, name: string): Field<never> {
  const field = spec.fields[name];
  if (!field) throw new RangeError(`${spec.name} has no field ${name}`);
  return field;
}

/** Returns the names of the members of the response. */
export function membersOf(spec: CollectionSpec<never>): string[] {
  return Object.keys(spec.fields).filter((name) => spec.fields[name]?.filterOnly !== true);
}

/** Returns the names of the fields that a filter may use. */
export function filterable(spec: CollectionSpec<never>): string[] {
  return Object.keys(spec.fields).filter((name) => (spec.fields[name]?.operators.length ?? 0) > 0);
}

/** Returns the names of the fields that a sort may use. */
export function sortable(spec: CollectionSpec<never>): string[] {
  return Object.keys(spec.fields).filter((name) => spec.fields[name]?.sortable === true);
}
