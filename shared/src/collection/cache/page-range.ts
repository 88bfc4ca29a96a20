// The range of a page: its criteria and the part of the sort order that it shows. It decides whether a changed row
// belongs on the page.
import { meets } from '../grammar/contradiction.ts';
import type { Condition, Criteria, PageBounds, Position } from '../grammar/criteria.ts';
import type { Value } from '../grammar/field-types.ts';
import { type CollectionSpec, fieldNamed, type SortCriterion } from '../grammar/spec.ts';

/** A row for comparison with criteria: a checked value for each field; null where the column is NULL. */
export type RowValues = Readonly<Record<string, Value | null>>;

/** The values of the sort fields of one row. */
export type SortKey = readonly (Value | null)[];

export interface PageRange {
  readonly criteria: Criteria;
  /** The id of a row after the page. It matters because the page would be the last one without such a row. */
  readonly nextRowId: string | undefined;
  /** The position of the row before the page; undefined for the first page. */
  readonly after: SortKey | undefined;
  /**
   * The position of the last row on the page; undefined on the last page, which extends to the end of the collection.
   */
  readonly until: SortKey | undefined;
}

/** Returns the range of a page that was read with these bounds. */
export function toPageRange(spec: CollectionSpec<never>, criteria: Criteria, bounds: PageBounds): PageRange {
  const { after, until, nextRowId } = bounds;
  const { sort } = criteria;
  return {
    criteria,
    nextRowId,
    after: after && toSortKey(spec, sort, after),
    until: until && toSortKey(spec, sort, until),
  };
}

/** Converts a position of strings from PostgreSQL into values. */
function toSortKey(spec: CollectionSpec<never>, sort: readonly SortCriterion[], position: Position): SortKey {
  return sort.map(({ field }, index) => {
    const { type } = fieldNamed(spec, field);
    const column = position[index] ?? null;
    if (column === null) return null;
    // A string is compared as it is stored, even when a filter accepts it only in another notation.
    return type.cast === 'text' ? column : (type.fromJson(JSON.parse(type.write(column))) ?? null);
  });
}

/**
 * A committed change of one row: its values before, undefined for a new row, and after, undefined for a deleted one.
 */
export interface RowChange {
  readonly id: string;
  readonly before: RowValues | undefined;
  readonly after: RowValues | undefined;
}

/** Returns whether the change affects the page: the page showed the row, or the row now belongs on it. */
export function affects({ id, before, after }: RowChange, range: PageRange): boolean {
  const side = sideOf(range, after);
  return side === 'on' || sideOf(range, before) === 'on' || (id === range.nextRowId && side !== 'after');
}

/** Returns whether a row meets the criteria. */
export function matches({ conditions, or }: Criteria, row: RowValues): boolean {
  return meetsAll(conditions, row) && (or.length === 0 || or.some((alternative) => meetsAll(alternative, row)));
}

function meetsAll(conditions: readonly Condition[], row: RowValues): boolean {
  return conditions.every((condition) => {
    const value = row[condition.field] ?? null;
    return value !== null && meets(value, condition);
  });
}

/** Returns the side of the page on which a row is; undefined when it does not meet the criteria. */
function sideOf(range: PageRange, row: RowValues | undefined): 'before' | 'on' | 'after' | undefined {
  const { criteria, after, until } = range;
  if (row === undefined || !matches(criteria, row)) return undefined;
  const { sort } = criteria;
  const key = sort.map(({ field }) => row[field] ?? null);
  if (after !== undefined && compare(sort, key, after) <= 0) return 'before';
  return until === undefined || compare(sort, key, until) <= 0 ? 'on' : 'after';
}

/**
 * Compares two sort keys. Negative when the first key precedes the second one. Absent values are last in both
 * directions.
 */
function compare(sort: readonly SortCriterion[], one: SortKey, other: SortKey): number {
  for (const [index, { direction }] of sort.entries()) {
    const [a, b] = [one[index] ?? null, other[index] ?? null];
    if (a === b) continue;
    if (a === null) return 1;
    if (b === null) return -1;
    const order = compareValues(a, b);
    return direction === 'asc' ? order : -order;
  }
  return 0;
}

/**
 * Compares strings by code point, as `COLLATE "C"` does. Times and ids have only one notation, so they are compared as
 * strings.
 */
function compareValues(one: Value, other: Value): number {
  if (typeof one === 'number' || typeof other === 'number') return Number(one) - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
