// What a page depends on: the criteria and the part of the sort order that it shows. Decides whether a changed row
// belongs there.
import { meets } from '../grammar/contradiction.ts';
import type { Condition, Criteria } from '../grammar/criteria.ts';
import type { Value } from '../grammar/field-types.ts';
import { type CollectionSpec, fieldNamed, type SortCriterion } from '../grammar/spec.ts';
import type { Position } from '../sql/cursor.ts';

/** A row as criteria compare it: a checked value for each field; null where the column is NULL. */
export type RowValues = Readonly<Record<string, Value | null>>;

/** Values of the sort fields of one row. */
export type Place = readonly (Value | null)[];

export interface PageExtent {
  readonly criteria: Criteria;
  /** Ids of the rows on the page. */
  readonly ids: readonly string[];
  /** Id of a row behind the page: without any, the page would be the last one. */
  readonly behind: string | undefined;
  /** Place of the row before the page; undefined for the first page. */
  readonly after: Place | undefined;
  /** Place of the last row on the page; undefined on the last page, which ends with the collection. */
  readonly until: Place | undefined;
}

/** The values of a position, whose texts are those of PostgreSQL. */
export function placeOf(spec: CollectionSpec<never>, sort: readonly SortCriterion[], position: Position): Place {
  return sort.map(({ field }, index) => {
    const { type } = fieldNamed(spec, field);
    const column = position[index] ?? null;
    return column === null ? null : (type.fromJson(JSON.parse(type.write(column))) ?? null);
  });
}

/** A committed change: the id of the row, and its present values; undefined when the row no longer exists. */
export interface RowChange {
  readonly id: string;
  readonly row: RowValues | undefined;
}

/** Whether a page is different after the change: it shows the row, or the row now belongs on it. */
export function touches({ id, row }: RowChange, extent: PageExtent): boolean {
  if (extent.ids.includes(id)) return true;
  const place = row !== undefined && matches(extent.criteria, row) ? sideOf(extent, row) : undefined;
  return place === 'on' || (id === extent.behind && place !== 'behind');
}

/** Whether a row meets the criteria. */
export function matches({ conditions, or }: Criteria, row: RowValues): boolean {
  return meetsAll(conditions, row) && (or.length === 0 || or.some((alternative) => meetsAll(alternative, row)));
}

function meetsAll(conditions: readonly Condition[], row: RowValues): boolean {
  return conditions.every((condition) => {
    const value = row[condition.field] ?? null;
    return value !== null && meets(value, condition);
  });
}

/** Where a row stands that meets the criteria. */
function sideOf({ criteria: { sort }, after, until }: PageExtent, row: RowValues): 'before' | 'on' | 'behind' {
  const place = sort.map(({ field }) => row[field] ?? null);
  if (after !== undefined && compare(sort, place, after) <= 0) return 'before';
  return until === undefined || compare(sort, place, until) <= 0 ? 'on' : 'behind';
}

/** Negative when the first place comes before the second. Absent values come last in both directions. */
function compare(sort: readonly SortCriterion[], one: Place, other: Place): number {
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

/** Text by code point, as `COLLATE "C"` compares it. Times and ids have one form each, so they are compared as text. */
function compareValues(one: Value, other: Value): number {
  if (typeof one === 'number' || typeof other === 'number') return Number(one) - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
