// The table of a collection's fields. Only identifiers in this table reach SQL.
import type { FieldType } from './field-types.ts';

export const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'] as const;
export type Operator = (typeof operators)[number];
export type Direction = 'asc' | 'desc';

/** Operators of fields that have an order. */
export const ordered: readonly Operator[] = operators;
/** Operators of fields that are compared for equality only. */
export const matched: readonly Operator[] = ['eq', 'ne', 'in'];
/** For fields of which a filter lists values. */
export const listed: readonly Operator[] = ['eq', 'in'];
/** For fields that are shown and not filtered by. */
export const none: readonly Operator[] = [];

export interface Field<Context = unknown> {
  readonly type: FieldType;
  /** What a filter may say about the field; empty when nothing. */
  readonly operators: readonly Operator[];
  /** Column, or SQL expression when the field is only shown. Trusted text: it comes from the source code. */
  readonly column: string;
  readonly sortable?: boolean;
  /** The column may be NULL: the member is then absent, last in every sort, and meets no condition. */
  readonly nullable?: boolean;
  /**
   * Leading sort fields for which an index (this column, that column, id) exists. An `in` on this field is then read as
   * one ordered scan per value, merged, instead of filtering along the sort index: the difference between reading a
   * page and reading the table when the wanted rows are rare or old.
   */
  readonly scans?: readonly string[];
  /**
   * No two rows have the same value, and an index finds it. A condition `eq` or `in` then leaves at most one row for
   * each of its values, so that these rows are read first, and sorted.
   */
  readonly unique?: boolean;
  /** The values of the type's closed list that a row can have, when it cannot have all. Others match nothing. */
  readonly occurring?: readonly string[];
  /** The values that the column can hold, as whole numbers; the bounds of its CHECK constraint. */
  readonly range?: { readonly from: number; readonly to: number };
  /**
   * For a range of few values: the sort fields for which an index (this column, that column, id) exists. A sort by this
   * field and then by one of those is read value by value.
   */
  readonly lowCardinality?: { readonly followedBy: readonly string[] };
  /** The field is no member of the answer: only conditions name it. */
  readonly filterOnly?: boolean;
  /** SQL of a condition that is no comparison with the column. The operators are `eq` and `in` only. */
  readonly condition?: (operator: Operator, parameter: string) => string;
  /** JSON text in place of the type's own; undefined leaves the member out. */
  readonly write?: (column: string | null, context: Context) => string | undefined;
}

export interface SortCriterion {
  readonly field: string;
  readonly direction: Direction;
}

/** The rows of which a column equals the value, or that meet a condition on it. Trusted text. */
export type ScopeCondition = { readonly cast: FieldType['cast'] } & (
  | { readonly column: string }
  | { readonly condition: (parameter: string) => string }
);

export interface CollectionSpec<Context = unknown> {
  /** Part of every cursor, so that a cursor of one collection is invalid in another. */
  readonly name: string;
  /** Table and, when needed, alias and joins. Trusted text. */
  readonly from: string;
  /**
   * Every public member in the order of the answer, and fields that only filters name. `id` has to be among them,
   * sortable and unique.
   */
  readonly fields: Readonly<Record<string, Field<Context>>>;
  readonly defaultSort: readonly SortCriterion[];
  /** Conditions that every read must be given a value for, such as the owner's account. */
  readonly scope?: Readonly<Record<string, ScopeCondition>>;
  /** Parameters of a query, and members of a body, that the operation reads itself, such as whose page it is. */
  readonly parameters?: readonly string[];
}

/** The field of that name; own members only, so that `__proto__` and `constructor` are no fields. */
export function fieldOf<Context>(spec: CollectionSpec<Context>, name: string): Field<Context> | undefined {
  return Object.hasOwn(spec.fields, name) ? spec.fields[name] : undefined;
}

/**
 * @throws RangeError when the table has no such field, which is a fault of ours: names of clients are checked before
 */
export function fieldNamed(spec: CollectionSpec<never>, name: string): Field<never> {
  const field = spec.fields[name];
  if (!field) throw new RangeError(`${spec.name} has no field ${name}`);
  return field;
}

/** Names of the members of the answer. */
export function membersOf(spec: CollectionSpec<never>): string[] {
  return Object.keys(spec.fields).filter((name) => spec.fields[name]?.filterOnly !== true);
}

/** Names of the fields that a filter may speak of. */
export function filterable(spec: CollectionSpec<never>): string[] {
  return Object.keys(spec.fields).filter((name) => (spec.fields[name]?.operators.length ?? 0) > 0);
}

/** Names of the fields that a sort may speak of. */
export function sortable(spec: CollectionSpec<never>): string[] {
  return Object.keys(spec.fields).filter((name) => spec.fields[name]?.sortable === true);
}
