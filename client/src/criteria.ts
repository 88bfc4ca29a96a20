// Filters as a caller writes them, and their two spellings: the body of a search and the query string.
import type { components } from './contract.ts';

type Schemas = components['schemas'];

/** A value, a list of alternatives, or operators: `4`, `['a', 'b']`, `{ gte: 10, lt: 20 }`. */
export type Criterion<Conditions extends { readonly eq?: unknown }> =
  | NonNullable<Conditions['eq']>
  | readonly NonNullable<Conditions['eq']>[]
  | Conditions;

type Criteria<Filters> = {
  readonly [Field in keyof Filters]?: NonNullable<Filters[Field]> extends { readonly eq?: unknown }
    ? Criterion<NonNullable<Filters[Field]>>
    : never;
};

export type ProductCriteria = Criteria<Schemas['ProductFilters']> & {
  /** Alternatives: one of them has to hold as well. */
  readonly or?: readonly Criteria<Schemas['ProductFilters']>[];
};

export interface OrderCriteria {
  readonly status?: Criterion<{ eq?: Schemas['Order']['status']; ne?: Schemas['Order']['status'] }>;
  readonly createdAt?: Criterion<Schemas['TimeConditions']>;
  readonly totalCost?: Criterion<Schemas['NumberConditions']>;
}

/** The `filters` of a search: values become `eq`, lists `in`. */
export function searchFilters({ or, ...criteria }: ProductCriteria): NonNullable<Schemas['ProductSearch']['filters']> {
  const spelled = conditionsByField(criteria);
  return { ...spelled, ...(or === undefined ? {} : { or: or.map(conditionsByField) }) };
}

function conditionsByField(criteria: Readonly<Record<string, unknown>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(criteria)
      .filter(([, criterion]) => criterion !== undefined)
      .map(([field, criterion]) => [field, conditionsOf(criterion)]),
  );
}

function conditionsOf(criterion: unknown): object {
  if (Array.isArray(criterion)) return { in: criterion };
  return typeof criterion === 'object' && criterion !== null ? criterion : { eq: criterion };
}

/** The values of the query parameters: `{ gte: 10, lt: 20 }` becomes `gte:10` and `lt:20`. */
export function queryFilters(criteria: Readonly<Record<string, unknown>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(conditionsByField(criteria)).map(([field, conditions]) => [
      field,
      Object.entries(conditions).flatMap(([operator, operand]: [string, unknown]) => {
        const values = (Array.isArray(operand) ? operand : [operand]).map(spellValue);
        return operator === 'in' ? values : values.map((value) => `${operator}:${value}`);
      }),
    ]),
  );
}

/** In double quotes with backslash escapes when something in the value has a meaning of its own. */
function spellValue(value: unknown): string {
  const text = String(value);
  return /[",:\\]|^\s|\s$/.test(text) ? `"${text.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"` : text;
}
