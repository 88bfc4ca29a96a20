// Detects criteria that no row can meet, so that the response needs no query.
import type { Condition, Criteria } from './criteria.ts';
import type { Value } from './field-types.ts';
import { type CollectionSpec, fieldNamed } from './spec.ts';

/** Returns whether a value that is not null meets a condition. */
export function meets(value: Value, condition: Condition): boolean {
  switch (condition.operator) {
    case 'eq':
      return value === condition.value;
    case 'ne':
      return value !== condition.value;
    case 'in':
      return condition.values.includes(value);
    case 'lt':
      return value < condition.value;
    case 'lte':
      return value <= condition.value;
    case 'gt':
      return value > condition.value;
    case 'gte':
      return value >= condition.value;
  }
}

/** Removes alternatives that no row can meet, because a query for them could read every row. */
export function withoutContradictions(spec: CollectionSpec<never>, criteria: Criteria): Criteria {
  const or = criteria.or.filter((alternative) => !excludeAll(spec, [...criteria.conditions, ...alternative]));
  return or.length === criteria.or.length ? criteria : { ...criteria, or };
}

/**
 * Returns whether the conditions and the value ranges of the fields exclude every row. A row has at most one value in
 * each field, and without a value it meets no condition.
 */
export function matchesNothing(spec: CollectionSpec<never>, { conditions, or }: Criteria): boolean {
  if (or.length === 0) return excludeAll(spec, conditions);
  return or.every((alternative) => excludeAll(spec, [...conditions, ...alternative]));
}

function excludeAll(spec: CollectionSpec<never>, conditions: readonly Condition[]): boolean {
  for (const [field, own] of Map.groupBy(conditions, (condition) => condition.field)) {
    const { range, occurring } = fieldNamed(spec, field);
    const limits: Condition[] = [
      ...(range === undefined
        ? []
        : [
            { field, operator: 'gte' as const, value: range.from },
            { field, operator: 'lte' as const, value: range.to },
          ]),
      ...(occurring === undefined ? [] : [{ field, operator: 'in' as const, values: occurring }]),
    ];
    if (contradict([...own, ...limits])) return true;
  }
  return false;
}

/**
 * Returns whether conditions on one field exclude each other, such as `gte:20` with `lt:10`. When one lists values,
 * each value is tried. Otherwise each lower bound is compared with each upper bound.
 */
function contradict(conditions: readonly Condition[]): boolean {
  const lists = conditions.flatMap((condition) =>
    condition.operator === 'eq' ? [[condition.value]] : condition.operator === 'in' ? [condition.values] : [],
  );
  const [candidates] = lists;
  if (candidates !== undefined) {
    return !candidates.some((value) => conditions.every((condition) => meets(value, condition)));
  }
  const lower = conditions.flatMap((c) => (c.operator === 'gt' || c.operator === 'gte' ? [c] : []));
  const upper = conditions.flatMap((c) => (c.operator === 'lt' || c.operator === 'lte' ? [c] : []));
  return lower.some((low) => upper.some((high) => !(meets(low.value, high) && meets(high.value, low))));
}
