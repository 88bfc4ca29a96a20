// Finds conditions on one field that no value at all can meet.
import type { Condition } from './criteria.ts';
import type { Value } from './field-types.ts';

/** Whether a present value meets a condition. */
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

/**
 * Whether conditions on one field exclude each other, such as `gte:20` with `lt:10`. Listed values are tried; without
 * any, each lower bound is held against each upper one.
 */
export function contradiction(conditions: readonly Condition[]): boolean {
  if (conditions.length < 2) return false;
  const candidates = conditions.flatMap((condition) =>
    condition.operator === 'eq' ? [condition.value] : condition.operator === 'in' ? condition.values : [],
  );
  if (candidates.length > 0) {
    return !candidates.some((value) => conditions.every((condition) => meets(value, condition)));
  }
  const lower = conditions.flatMap((c) => (c.operator === 'gt' || c.operator === 'gte' ? [c] : []));
  const upper = conditions.flatMap((c) => (c.operator === 'lt' || c.operator === 'lte' ? [c] : []));
  return lower.some((low) => upper.some((high) => !(meets(low.value, high) && meets(high.value, low))));
}
