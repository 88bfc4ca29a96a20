// Converts a parse tree into checked criteria. Both notations become the same form, in one order.
import { type Fault, joinedFaults, Problem, toSummary } from '../../problem/index.ts';
import { bounds } from './bounds.ts';
import { checkBounds, isExcessive, isLong } from './check-bounds.ts';
import { meets } from './contradiction.ts';
import type { Condition, Criteria } from './criteria.ts';
import type { Value } from './field-types.ts';
import {
  type CollectionSpec,
  type Field,
  fieldNamed,
  filterable,
  findField,
  membersOf,
  type Operator,
  operators,
  type SortCriterion,
  sortable,
} from './spec.ts';
import { fault, shown, type Tree, type WrittenCondition, type WrittenSort, type WrittenValue } from './tree.ts';

/**
 * Validates a tree by the collection's table.
 * @param faults the parser's faults; this function adds its own
 * @param found faults that were known before the parser began
 * @throws Problem `invalid-request` that lists all faults; `query-too-costly` past a limit, with the nearest accepted
 * query
 */
export function check(
  spec: CollectionSpec<never>,
  tree: Tree,
  faults: Fault[],
  found: readonly Fault[] = [],
): Criteria {
  // Criteria beyond a limit are only counted, so that the rejection is fast. The proposed request has the client's
  // order.
  const inClientOrder = isExcessive(tree);
  const checkAll = (written: readonly WrittenCondition[]) => checkConditions(spec, written, inClientOrder, faults);
  const conditions = checkAll(tree.conditions.slice(0, bounds.conditions + 1));
  const groups = tree.groups.slice(0, bounds.groups).map((group) => checkAll(group.conditions));
  const criteria: Criteria = {
    conditions,
    or: inOrder(groups.map((group) => ({ group, key: JSON.stringify(group) }))).map(({ group }) => group),
    sort: checkSort(spec, tree.sort, faults),
    limit: checkLimit(tree.limit, faults),
    fields: checkFields(spec, tree.fields, faults),
    cursor: checkCursor(tree.cursor, faults),
  };
  const all = joinedFaults(found, faults);
  if (all.length > 0) refuse(all);
  checkBounds(spec, tree, criteria);
  return criteria;
}

/** The maximum number of listed faults. Longer lists would only turn a small request into a large response. */
export const listedFaults = 50;

/** @throws Problem `invalid-request`, always */
function refuse(faults: readonly Fault[]): never {
  const errors = faults.slice(0, listedFaults);
  throw new Problem('invalid-request', toSummary(errors, listedFaults), { errors });
}

/** Sorts by key, and removes items with the same key. */
function inOrder<T extends { key: string }>(items: T[]): T[] {
  const sorted = items.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return sorted.filter((item, index) => item.key !== sorted[index - 1]?.key);
}

function checkConditions(
  spec: CollectionSpec<never>,
  written: readonly WrittenCondition[],
  inClientOrder: boolean,
  faults: Fault[],
): Condition[] {
  const names = Object.keys(spec.fields);
  const found: { condition: Condition; key: string }[] = [];
  for (const part of written) {
    if (faults.length > listedFaults) break;
    const condition = checkCondition(spec, part, inClientOrder, faults);
    if (!condition) continue;
    const rank = String.fromCharCode(32 + names.indexOf(part.field), 32 + operators.indexOf(condition.operator));
    const value = condition.operator === 'in' ? condition.values : condition.value;
    found.push({ condition, key: `${rank}${JSON.stringify(value)}` });
  }
  return withoutNegations(
    spec,
    inOrder(found).map(({ condition }) => condition),
  );
}

/**
 * Replaces `ne` on an indexed field with a closed list of values by the list of the other values. Each of them is one
 * ordered scan, while `ne` would read every row with the excluded value.
 */
function withoutNegations(spec: CollectionSpec<never>, conditions: readonly Condition[]): Condition[] {
  return [...Map.groupBy(conditions, ({ field }) => field)].flatMap(([field, own]) => {
    const { scansByValue, type } = fieldNamed(spec, field);
    if (!scansByValue || !type.values || own.every(({ operator }) => operator !== 'ne')) return own;
    const values = type.values.filter((value) => own.every((condition) => meets(value, condition))).sort();
    const [first] = values;
    return first !== undefined && values.length === 1
      ? [{ field, operator: 'eq', value: first }]
      : [{ field, operator: 'in', values }];
  });
}

function checkCondition(
  spec: CollectionSpec<never>,
  part: WrittenCondition,
  inClientOrder: boolean,
  faults: Fault[],
): Condition | undefined {
  const field = findField(spec, part.field);
  if (!field || field.operators.length === 0) {
    const names = filterable(spec);
    faults.push(fault(part.at, `${shown(part.field)} cannot be filtered by; ${names.join(', ')} can`, names));
    return undefined;
  }
  const operator = field.operators.find((known) => known === part.operator);
  if (!operator) {
    const detail = `${shown(part.operator)} is no operator of ${part.field}; ${field.operators.join(', ')} are`;
    faults.push(fault(part.at, detail, field.operators));
    return undefined;
  }
  const values: Value[] = [];
  for (const { spelling, written, at } of part.values.slice(0, bounds.splitValues)) {
    if (faults.length > listedFaults) break;
    const ofJson = spelling === 'json' ? field.type.fromJson(written) : undefined;
    // The specification writes the values of `in` as strings, in a body, too.
    const isText = typeof written === 'string' && (spelling !== 'json' || operator === 'in');
    const value = ofJson ?? (isText ? field.type.fromText(written) : undefined);
    if (value === undefined)
      faults.push(fault(at, `${shown(written)} must be ${field.type.expects}${remedyOf(field, part.field, written)}`));
    else values.push(value);
  }
  const [first] = values;
  if (first === undefined || values.length < Math.min(part.values.length, bounds.splitValues)) return undefined;
  if (operator !== 'in') return { field: part.field, operator, value: first };
  const distinct = [...new Set(values)];
  if (!inClientOrder) distinct.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return distinct.length === 1 && !isLong(part)
    ? { field: part.field, operator: 'eq', value: first }
    : { field: part.field, operator: 'in', values: distinct };
}

const signs: Readonly<Record<string, readonly Operator[]>> = { '>': ['gte', 'gt'], '<': ['lte', 'lt'], '!': ['ne'] };

/** Returns the condition for a comparison sign before a value: `price=>10` → `price=gte:10`. */
function remedyOf({ operators: permitted, type }: Field<never>, name: string, written: unknown): string {
  const [, sign = '', isInclusive, text = ''] =
    /^([<>!])(=?)(.+)$/.exec(typeof written === 'string' ? written : '') ?? [];
  const meant = (signs[sign] ?? []).slice(0, isInclusive === '=' ? 1 : 2).filter((each) => permitted.includes(each));
  if (meant.length === 0 || type.fromText(text) === undefined) return '';
  return `; write ${meant.map((each) => `${name}=${each}:${text}`).join(' or ')}`;
}

function checkSort(spec: CollectionSpec<never>, written: readonly WrittenSort[], faults: Fault[]): SortCriterion[] {
  if (written.length === 0) return withId(spec.defaultSort);
  const names = sortable(spec);
  const sort: SortCriterion[] = [];
  for (const { field, direction, at } of written) {
    if (!names.includes(field)) {
      faults.push(fault(at, `${shown(field)} cannot be sorted by; ${names.join(', ')} can`, names));
    } else if (direction !== 'asc' && direction !== 'desc') {
      const detail = `${shown(direction)} is no direction; asc and desc are, as in ${field}:asc`;
      faults.push(fault(at, detail, ['asc', 'desc']));
    } else if (sort.some((criterion) => criterion.field === field)) {
      faults.push(fault(at, `names ${field} twice`));
    } else sort.push({ field, direction });
  }
  return withId(sort);
}

/**
 * Appends `id` in the last direction, if necessary. Criteria after an id have no effect, and without one the order
 * would not be total.
 */
function withId(sort: readonly SortCriterion[]): SortCriterion[] {
  const end = sort.findIndex((criterion) => criterion.field === 'id');
  if (end >= 0) return sort.slice(0, end + 1);
  return [...sort, { field: 'id', direction: sort.at(-1)?.direction ?? 'asc' }];
}

const wholeNumber = /^(?:0|[1-9][0-9]{0,8})$/;

function checkLimit(value: WrittenValue | undefined, faults: Fault[]): number {
  const { minimum, maximum, default: usual } = bounds.limit;
  if (!value) return usual;
  const { spelling, written, at } = value;
  const limit =
    spelling === 'json'
      ? written
      : typeof written === 'string' && wholeNumber.test(written)
        ? Number(written)
        : undefined;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= minimum && limit <= maximum) return limit;
  faults.push(fault(at, `${shown(written)} must be a whole number from ${minimum} to ${maximum}`));
  return usual;
}

function checkFields(
  spec: CollectionSpec<never>,
  values: readonly WrittenValue[] | undefined,
  faults: Fault[],
): string[] | undefined {
  if (!values) return undefined;
  const names = membersOf(spec);
  const asked = new Set<string>();
  for (const { written, at } of values) {
    if (faults.length > listedFaults) break;
    if (typeof written !== 'string' || !names.includes(written)) {
      faults.push(fault(at, `${shown(written)} is no member; ${names.join(', ')} are`, names));
    } else if (asked.has(written)) faults.push(fault(at, `names ${written} twice`));
    else asked.add(written);
  }
  return asked.size === names.length ? undefined : names.filter((name) => asked.has(name));
}

function checkCursor(value: WrittenValue | undefined, faults: Fault[]): string | undefined {
  if (!value) return undefined;
  const { written, at } = value;
  if (typeof written === 'string' && written.length > 0) return written;
  faults.push(fault(at, 'must be the nextCursor of an earlier answer'));
  return undefined;
}
