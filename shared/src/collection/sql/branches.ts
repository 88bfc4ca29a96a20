// Decides which ordered scans of the table answer a request.
import type { Condition, Criteria, Position } from '../grammar/criteria.ts';
import { type CollectionSpec, fieldNamed } from '../grammar/spec.ts';
import type { ConditionLocation } from './bind-parameters.ts';

export interface Located {
  readonly condition: Condition;
  readonly place: ConditionLocation;
}

/** The rows that one ordered scan returns, or one scan for each of some values. */
export interface Branch {
  readonly conditions: readonly Located[];
  /** Whether the leading sort column of the branch's rows is NULL, is not NULL, or may be either. */
  readonly leading: 'any' | 'present' | 'absent';
  /**
   * Set when each value of the leading column is read by a separate scan: all values, those after the last row's value,
   * or the last row's value only.
   */
  readonly valueRange?: 'all' | 'later' | 'same';
  /** The list that is read as one ordered scan for each value. */
  readonly unionOver: Located | undefined;
  /** Conditions that match few rows. These rows are read first, and then sorted. */
  readonly keys: readonly Located[];
  /** All conditions except `unionOver` and `keys`. */
  readonly rest: readonly Located[];
}

/**
 * Returns one branch for each alternative. When the leading sort column may be NULL, its NULLs are a separate branch:
 * no index has the order "present, then absent", but each part is in the order of an index.
 */
export function toBranches(spec: CollectionSpec<never>, criteria: Criteria, position: Position | undefined): Branch[] {
  const common = criteria.conditions.map((condition, index): Located => ({ condition, place: { index } }));
  const alternatives = criteria.or.map((conditions, group) =>
    conditions.map((condition, index): Located => ({ condition, place: { group, index } })),
  );
  const leading = criteria.sort[0]?.field ?? 'id';
  return (alternatives.length > 0 ? alternatives : [[]]).flatMap((group): Branch[] => {
    const conditions = [...common, ...group];
    const keys = conditions.filter(({ condition }) => isKey(spec, condition));
    const unionOver = keys.length > 0 ? undefined : findUnion(spec, criteria, conditions);
    const rest = conditions.filter((each) => each !== unionOver && !keys.includes(each));
    const given = { conditions, unionOver, keys, rest };
    const mayBeAbsent =
      fieldNamed(spec, leading).nullable === true && conditions.every(({ condition }) => condition.field !== leading);
    const absent: Branch = { ...given, leading: 'absent' };
    // After an absent value, only absent values follow. An alternative that requires present values is therefore
    // complete.
    if (position?.[0] === null) return mayBeAbsent ? [absent] : [];
    const present: Branch = { ...given, leading: mayBeAbsent ? 'present' : 'any' };
    return [...byTies(spec, criteria, position, present), ...(mayBeAbsent ? [absent] : [])];
  });
}

/**
 * Handles a leading column with few values and a second sort criterion. Within one value, an index provides either
 * direction.
 */
function byTies(
  spec: CollectionSpec<never>,
  { sort: [first, second] }: Criteria,
  position: Position | undefined,
  branch: Branch,
): Branch[] {
  const { lowCardinality } = fieldNamed(spec, first?.field ?? 'id');
  const direct =
    branch.unionOver ||
    branch.keys.length > 0 ||
    branch.conditions.some(({ condition }) => isEquality(spec, first?.field, condition));
  if (!lowCardinality?.indexedWith.includes(second?.field ?? '') || direct) return [branch];
  if (!position) return [{ ...branch, valueRange: 'all' }];
  return [
    { ...branch, valueRange: 'same' },
    { ...branch, valueRange: 'later' },
  ];
}

/** Returns the first list that has an index for this order, unless an equality already has one. */
function findUnion(
  spec: CollectionSpec<never>,
  { sort }: Criteria,
  conditions: readonly Located[],
): Located | undefined {
  const leading = sort[0]?.field;
  if (conditions.some(({ condition }) => isEquality(spec, leading, condition))) return undefined;
  return conditions.find(({ condition }) => condition.operator === 'in' && isScanned(spec, leading, condition));
}

function isEquality(spec: CollectionSpec<never>, leading: string | undefined, condition: Condition): boolean {
  return condition.operator === 'eq' && isScanned(spec, leading, condition);
}

/** Returns whether the condition matches few rows for each of its values. */
function isKey(spec: CollectionSpec<never>, { field, operator }: Condition): boolean {
  return (operator === 'eq' || operator === 'in') && fieldNamed(spec, field).fewRows === true;
}

function isScanned(spec: CollectionSpec<never>, leading: string | undefined, { field }: Condition): boolean {
  return fieldNamed(spec, field).scansByValue?.includes(leading ?? '') === true;
}

/**
 * Returns whether one plan is good for all values of a branch. When rows are filtered along an index, the best plan
 * depends on how many rows match, so PostgreSQL must plan with the values. A value of a closed list does not limit the
 * filtered rows, because nearly all rows may have the same value.
 */
export function hasStablePlan(
  spec: CollectionSpec<never>,
  { sort }: Criteria,
  { unionOver, keys, rest }: Branch,
): boolean {
  const leading = sort[0]?.field;
  if (keys.length > 0) return true;
  const scanned = unionOver ?? rest.find(({ condition }) => isEquality(spec, leading, condition));
  if (scanned !== undefined && fieldNamed(spec, scanned.condition.field).type.values === undefined) return true;
  return rest.every((each) => each === scanned || each.condition.field === leading);
}
