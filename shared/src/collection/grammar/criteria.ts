// A checked request for a page, independent of the notation of the request.
import type { Value } from './field-types.ts';
import type { Operator, SortCriterion } from './spec.ts';

export type Condition =
  | { readonly field: string; readonly operator: Exclude<Operator, 'in'>; readonly value: Value }
  /**
   * At least two values, sorted, without duplicates. When a request is rejected for exceeding a limit, there may be one
   * value, and the order is the client's. The list is empty when conditions exclude every value of a closed list.
   */
  | { readonly field: string; readonly operator: 'in'; readonly values: readonly Value[] };

/** A checked request for a page. Equal requests have equal criteria, whatever their notation and order. */
export interface Criteria {
  readonly conditions: readonly Condition[];
  /** Alternatives: if there are any, a row has to meet all conditions of at least one of them. */
  readonly or: readonly (readonly Condition[])[];
  /** At least one criterion; ends with `id`. */
  readonly sort: readonly SortCriterion[];
  readonly limit: number;
  /** The requested members, in the order of the table; undefined for all. */
  readonly fields: readonly string[] | undefined;
  readonly cursor: string | undefined;
}

/** The values of the sort fields of one row as PostgreSQL prints them; null where a column is NULL. */
export type Position = readonly (string | null)[];

/** The part of the sort order that a page shows. */
export interface PageBounds {
  /** The position of the row before the page; undefined for the first page. */
  readonly after: Position | undefined;
  /** The position of the last row on the page; undefined on the last page. */
  readonly until: Position | undefined;
  /** The id of a row after the page; undefined on the last page. */
  readonly nextRowId: string | undefined;
}
