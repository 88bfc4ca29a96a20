// Decides which ordered scans of the table answer a request.
import type { Condition, Criteria } from '../grammar/criteria.ts';
import { type CollectionSpec, fieldNamed } from '../grammar/spec.ts';
import type { ConditionLocation } from './bind-parameters.ts';
import type { Position } from './cursor.ts';

export interface Located {
  readonly condition: Condition;
  readonly place: ConditionLocation;
}

/** Rows that one ordered scan, or one for each of some values, gives. */
export interface Branch {
  readonly conditions: readonly Located[];
  /** Whether the leading sort column of this branch's rows may have a value, has one, or has none. */
  readonly leading: 'any' | 'present' | 'absent';
  /**
   * Set when each value of the leading column is read as a scan of its own: all values, those after the last row's, or
   * the last row's own value.
   */
  readonly perValue?: 'all' | 'later' | 'same';
  /** The list to read as one ordered scan per value. */
  readonly fanOut: Located | undefined;
  /** Conditions that leave at most one row for each of their values: these rows are read first, and then sorted. */
  readonly keys: readonly Located[];
  /** All conditions except `fanOut` and `keys`. */
  readonly rest: readonly Located[];
}

/**
 * One branch per alternative. When the leading sort column may be NULL, its NULLs are a branch of their own: "present,
 * then absent" is no order of an index, while each half is.
 */
export function branchesOf(spec: CollectionSpec<never>, criteria: Criteria, position: Position | undefined): Branch[] {
  const common = criteria.conditions.map((condition, index): Located => ({ condition, place: { index } }));
  const alternatives = criteria.or.map((conditions, group) =>
    conditions.map((condition, index): Located => ({ condition, place: { group, index } })),
  );
  const leading = criteria.sort[0]?.field ?? 'id';
  return (alternatives.length > 0 ? alternatives : [[]]).flatMap((group): Branch[] => {
    const conditions = [...common, ...group];
    const keys = conditions.filter(({ condition }) => isKey(spec, condition));
    const fanOut = keys.length > 0 ? undefined : fanned(spec, criteria, conditions);
    const rest = conditions.filter((each) => each !== fanOut && !keys.includes(each));
    const given = { conditions, fanOut, keys, rest };
    const mayBeAbsent =
      fieldNamed(spec, leading).nullable === true && conditions.every(({ condition }) => condition.field !== leading);
    const absent: Branch = { ...given, leading: 'absent' };
    // After an absent value come absent ones only; an alternative that asks for present ones has been shown whole.
    if (position?.[0] === null) return mayBeAbsent ? [absent] : [];
    const present: Branch = { ...given, leading: mayBeAbsent ? 'present' : 'any' };
    return [...byTies(spec, criteria, position, present), ...(mayBeAbsent ? [absent] : [])];
  });
}

/** A few-valued leading column with a second criterion: within one value an index gives either direction. */
function byTies(
  spec: CollectionSpec<never>,
  { sort: [first, second] }: Criteria,
  position: Position | undefined,
  branch: Branch,
): Branch[] {
  const { lowCardinality } = fieldNamed(spec, first?.field ?? 'id');
  const direct =
    branch.fanOut ||
    branch.keys.length > 0 ||
    branch.conditions.some(({ condition }) => isEquality(spec, first?.field, condition));
  if (!lowCardinality?.followedBy.includes(second?.field ?? '') || direct) return [branch];
  if (!position) return [{ ...branch, perValue: 'all' }];
  return [
    { ...branch, perValue: 'same' },
    { ...branch, perValue: 'later' },
  ];
}

/** The first list that has an index for this order, unless an equality already has one. */
function fanned(spec: CollectionSpec<never>, { sort }: Criteria, conditions: readonly Located[]): Located | undefined {
  const leading = sort[0]?.field;
  if (conditions.some(({ condition }) => isEquality(spec, leading, condition))) return undefined;
  return conditions.find(({ condition }) => condition.operator === 'in' && isScanned(spec, leading, condition));
}

function isEquality(spec: CollectionSpec<never>, leading: string | undefined, condition: Condition): boolean {
  return condition.operator === 'eq' && isScanned(spec, leading, condition);
}

/** Whether the condition leaves at most one row for each of its values. */
function isKey(spec: CollectionSpec<never>, { field, operator }: Condition): boolean {
  return (operator === 'eq' || operator === 'in') && fieldNamed(spec, field).unique === true;
}

function isScanned(spec: CollectionSpec<never>, leading: string | undefined, { field }: Condition): boolean {
  return fieldNamed(spec, field).scans?.includes(leading ?? '') === true;
}

/**
 * Whether one plan serves all values of a branch. Where rows are filtered along an index, the best plan depends on how
 * many rows the values keep, and PostgreSQL has to see them. Nearly all rows may have the same value of a closed list,
 * so that such a value does not bound the rows that are filtered.
 */
export function isSteady(spec: CollectionSpec<never>, { sort }: Criteria, { fanOut, keys, rest }: Branch): boolean {
  const leading = sort[0]?.field;
  if (keys.length > 0) return true;
  const scanned = fanOut ?? rest.find(({ condition }) => isEquality(spec, leading, condition));
  if (scanned !== undefined && fieldNamed(spec, scanned.condition.field).type.values === undefined) return true;
  return rest.every((each) => each === scanned || each.condition.field === leading);
}
