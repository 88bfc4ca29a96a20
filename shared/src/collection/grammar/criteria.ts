// A checked request for a page: the one form that both notations become.
import type { Value } from './field-types.ts';
import type { Operator, SortCriterion } from './spec.ts';

export type Condition =
  | { readonly field: string; readonly operator: Exclude<Operator, 'in'>; readonly value: Value }
  /**
   * At least two values, sorted, none twice. One only, and in the client's order, where a request past a bound is
   * refused; none where conditions exclude each of a closed list of values.
   */
  | { readonly field: string; readonly operator: 'in'; readonly values: readonly Value[] };

/** A checked request for a page. Equal requests are equal criteria, whatever their spelling and order. */
export interface Criteria {
  readonly conditions: readonly Condition[];
  /** Alternatives: when there are any, a row meets all conditions of at least one. */
  readonly or: readonly (readonly Condition[])[];
  /** At least one criterion; ends with `id`. */
  readonly sort: readonly SortCriterion[];
  readonly limit: number;
  /** Members asked for, in the order of the table; undefined for all. */
  readonly fields: readonly string[] | undefined;
  readonly cursor: string | undefined;
}
