// Splits criteria with lists that are too long into several criteria with the same results together.
import { bounds } from './bounds.ts';
import type { Condition, Criteria } from './criteria.ts';

/**
 * Splits each long list into lists of the permitted length, and returns a query for each combination of them. A row
 * that meets all conditions has one value in each field, so it is in the result of at least one query. The lists
 * preserve the order of their values.
 * @returns undefined when there are more queries than a problem may propose, or when a list is empty because several
 * negations exclude all values of a field
 */
export function splitCriteria(criteria: Criteria): Criteria[] | undefined {
  const conditions = [criteria.conditions, ...criteria.or].flat();
  if (conditions.some((condition) => condition.operator === 'in' && condition.values.length === 0)) return undefined;
  const lists = conditions.map((condition) => partsOf(condition).length);
  if (lists.reduce((product, parts) => product * parts, 1) > bounds.splitQueries) return undefined;
  return combinations([criteria.conditions, ...criteria.or].map(splitConditions)).map(([conditions = [], ...or]) => {
    return { ...criteria, conditions, or, cursor: undefined };
  });
}

function splitConditions(conditions: readonly Condition[]): Condition[][] {
  return combinations(conditions.map(partsOf));
}

function partsOf(condition: Condition): Condition[] {
  if (condition.operator !== 'in' || condition.values.length <= bounds.listValues) return [condition];
  const { values } = condition;
  const count = Math.ceil(values.length / bounds.listValues);
  return Array.from({ length: count }, (_, part) => {
    return { ...condition, values: values.slice(part * bounds.listValues, (part + 1) * bounds.listValues) };
  });
}

/** Returns every combination with one item of each list. */
function combinations<T>(lists: readonly (readonly T[])[]): T[][] {
  return lists.reduce<T[][]>((found, list) => found.flatMap((items) => list.map((item) => [...items, item])), [[]]);
}
