// Writes criteria as a query or a body: the reverse of from-query and from-body.

import { bounds } from './bounds.ts';
import type { Condition, Criteria } from './criteria.ts';
import type { Value } from './field-types.ts';
import { type CollectionSpec, findField, type SortCriterion } from './spec.ts';

const plainText = /^[^",:\\\s](?:[^",:]*[^",:\s])?$/;

/**
 * Returns a percent-encoded query string without its question mark.
 * @throws RangeError for criteria with `or`, which a query string cannot express
 */
export function toQuery(spec: CollectionSpec<never>, criteria: Criteria): string {
  if (criteria.or.length > 0) throw new RangeError('a query string cannot express or');
  const parts: string[] = [];
  for (const [field, conditions] of byField(criteria.conditions)) {
    const [only] = conditions;
    const plain = conditions.length === 1 && only !== undefined && (only.operator === 'in' || only.operator === 'eq');
    const items = conditions.map((condition) => {
      const values = condition.operator === 'in' ? condition.values : [condition.value];
      const text = values.map((value) => quoted(spec, field, value)).join(',');
      return plain ? text : `${condition.operator}:${text}`;
    });
    parts.push(`${field}=${encode(items.join(','))}`);
  }
  const sort = writtenSort(criteria).map(({ field, direction }) => `${field}:${direction}`);
  if (sort.length > 0) parts.push(`sort=${sort.join(',')}`);
  parts.push(`limit=${criteria.limit}`);
  if (criteria.fields) parts.push(`fields=${criteria.fields.join(',')}`);
  if (criteria.cursor !== undefined) parts.push(`cursor=${encode(criteria.cursor)}`);
  return parts.join('&');
}

/** Returns the sort criteria without the id that the server has appended. */
function writtenSort({ sort }: Criteria): readonly SortCriterion[] {
  return sort.slice(0, bounds.sortCriteria);
}

/** Commas and colons stay unencoded, because people read them and a query may contain them (RFC 3986 section 3.4). */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':');
}

function quoted(spec: CollectionSpec<never>, field: string, value: Value): string {
  const text = findField(spec, field)?.type.toText(value) ?? String(value);
  return plainText.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Returns the JSON body of a search. */
export function toBody(spec: CollectionSpec<never>, criteria: Criteria): Record<string, unknown> {
  const filters = {
    ...toFilters(spec, criteria.conditions),
    ...(criteria.or.length > 0 ? { or: criteria.or.map((group) => toFilters(spec, group)) } : {}),
  };
  const sort = writtenSort(criteria).map(({ field, direction }) => ({ field, direction }));
  return {
    filters,
    ...(sort.length > 0 ? { sort } : {}),
    pagination: { limit: criteria.limit, ...(criteria.cursor === undefined ? {} : { cursor: criteria.cursor }) },
    ...(criteria.fields ? { fields: [...criteria.fields] } : {}),
  };
}

function toFilters(spec: CollectionSpec<never>, conditions: readonly Condition[]): Record<string, unknown> {
  const filters: Record<string, Record<string, unknown>> = {};
  for (const [field, group] of byField(conditions)) {
    const json = (value: Value) => findField(spec, field)?.type.toJson(value) ?? value;
    const operators: Record<string, unknown> = {};
    for (const condition of group) {
      if (condition.operator === 'in') operators.in = condition.values.map(json);
      else if (condition.operator === 'ne') {
        const others = group.flatMap((other) => (other.operator === 'ne' ? [json(other.value)] : []));
        operators.ne = others.length === 1 ? others[0] : others;
      } else if (condition.operator === 'eq' && operators.eq !== undefined) {
        // A body can contain each operator only once. A second `eq` was an `in` with one value, so it is written as
        // `in`.
        operators.in = [json(condition.value)];
      } else operators[condition.operator] = json(condition.value);
    }
    filters[field] = operators;
  }
  return filters;
}

function byField(conditions: readonly Condition[]): Map<string, Condition[]> {
  return Map.groupBy(conditions, (condition) => condition.field);
}
