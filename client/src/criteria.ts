// Filters as a caller writes them, and their two notations: the body of a search and the query string.
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
  /** Alternatives, of which at least one must also be met. */
  readonly or?: readonly Criteria<Schemas['ProductFilters']>[];
};

export interface OrderCriteria {
  readonly status?: Criterion<{ eq?: Schemas['Order']['status']; ne?: Schemas['Order']['status'] }>;
  readonly createdAt?: Criterion<Schemas['TimeConditions']>;
  readonly totalCost?: Criterion<Schemas['NumberConditions']>;
}

/**
 * The `filters` of a search: values become `eq`, lists `in`.
 * @throws TypeError for an empty list, and for an alternative without conditions
 */
export function searchFilters({ or, ...criteria }: ProductCriteria): NonNullable<Schemas['ProductSearch']['filters']> {
  const spelled = conditionsByField(criteria);
  if (or === undefined) return spelled;
  const alternatives = or.map(conditionsByField);
  if (alternatives.length === 0) throw new TypeError('or has an empty list: give alternatives, or leave it out');
  if (alternatives.some((each) => Object.keys(each).length === 0))
    throw new TypeError('or has an alternative without conditions: remove it');
  return { ...spelled, or: alternatives };
}

function conditionsByField(criteria: Readonly<Record<string, unknown>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(criteria)
      .map(([field, criterion]) => [field, conditionsOf(field, criterion)] as const)
      .filter(([, conditions]) => Object.keys(conditions).length > 0),
  );
}

/**
 * Removes operands that are undefined. Throws for an empty list, because omitting it would turn "none of these" into
 * "all".
 */
function conditionsOf(field: string, criterion: unknown): object {
  const conditions = Object.entries(operatorsOf(criterion)).filter(([, operand]) => operand !== undefined);
  if (conditions.some(([, operand]) => Array.isArray(operand) && operand.length === 0))
    throw new TypeError(`${field} has an empty list: give values, or leave it out`);
  return Object.fromEntries(conditions);
}

function operatorsOf(criterion: unknown): object {
  if (Array.isArray(criterion)) return { in: criterion };
  return typeof criterion === 'object' && criterion !== null ? criterion : { eq: criterion };
}

/**
 * The values of the query parameters: `{ gte: 10, in: [20, 30] }` becomes `gte:10` and `in:20,30`.
 * @throws TypeError for an empty list
 */
export function queryFilters(criteria: Readonly<Record<string, unknown>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(conditionsByField(criteria)).map(([field, conditions]) => [
      field,
      Object.entries(conditions).flatMap(([operator, operand]: [string, unknown]) => {
        const values = (Array.isArray(operand) ? operand : [operand]).map(spellValue);
        // A list is never written as plain values, because they cannot be combined with operators.
        return operator === 'in' ? `in:${values.join(',')}` : values.map((value) => `${operator}:${value}`);
      }),
    ]),
  );
}

/** Puts a value in double quotes, with backslash escapes, when it contains characters with a special meaning. */
function spellValue(value: unknown): string {
  const text = String(value);
  return /[",:\\]|^\s|\s$/.test(text) ? `"${text.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"` : text;
}
