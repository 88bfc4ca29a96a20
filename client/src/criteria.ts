// Filters as a caller writes them, and their two notations: the body of a search and the query string.
import type { components } from './contract.ts';

type Schemas = components['schemas'];

/** A value, a list of alternatives, or operators: `4`, `['a', 'b']`, `{ gte: 10, lt: 20 }`. */
export type Criterion<Conditions extends { readonly eq?: unknown }> =
  | NonNullable<Conditions['eq']>
  | readonly NonNullable<Conditions['eq']>[]
  | { readonly [Operator in keyof Conditions]: Operand<Conditions[Operator]> };

type Operand<Given> = Given extends readonly (infer Each)[] ? readonly Each[] : Given;

type Value = string | number | boolean;

/** Any conditions on a field. */
export type Conditions = {
  readonly [Operator in 'eq' | 'lt' | 'lte' | 'gt' | 'gte']?: Value;
} & { readonly [Operator in 'ne' | 'in']?: Value | readonly Value[] };

type CriterionOf<Filter> = Filter extends Value
  ? Filter
  : Filter extends readonly string[]
    ? Criterion<Conditions>
    : Filter extends { readonly eq?: unknown }
      ? Criterion<Filter>
      : never;

/** A criterion for each filter. Other parameters, such as words to search for, have their value. */
export type Criteria<Filters> = { readonly [Field in keyof Filters]?: CriterionOf<NonNullable<Filters[Field]>> };

type AttributeCriteria = Readonly<Record<string, Criterion<{ eq?: string | number; in?: (string | number)[] }>>>;

export type ProductCriteria = Criteria<Schemas['ProductFilters']> & {
  /** Words to search for. */
  readonly q?: string;
  /** Attributes that the shop declares: `{ colour: ['red', 'blue'] }`. */
  readonly attributes?: AttributeCriteria;
  /** Alternatives, of which at least one must also be met. */
  readonly or?: readonly Criteria<Schemas['ProductFilters']>[];
};

type Status = Schemas['Order']['status'];

export interface OrderCriteria {
  /**
   * The account of the orders, by default the caller's own. Another account and `all` need the scope `orders:read-all`.
   */
  readonly accountId?: string;
  readonly id?: Criterion<{ eq?: string; in?: readonly string[] }>;
  readonly status?: Criterion<{ eq?: Status; ne?: Status | Status[]; in?: Status[] }>;
  readonly createdAt?: Criterion<Schemas['TimeConditions']>;
  readonly updatedAt?: Criterion<Schemas['TimeConditions']>;
  readonly totalCost?: Criterion<Schemas['NumberConditions']>;
}

/**
 * Returns the members of a search that criteria become.
 * @throws TypeError as `searchFilters`
 */
export function searchBody({ q, ...criteria }: ProductCriteria): Schemas['ProductSearch'] {
  return { ...(q !== undefined && { q }), filters: searchFilters(criteria) };
}

/**
 * Returns the `filters` of a search: values become `eq`, lists `in`.
 * @throws TypeError for an empty list, and for an alternative without conditions
 */
function searchFilters({
  or,
  attributes = {},
  ...criteria
}: ProductCriteria): Schemas['ProductSearch']['filters'] & {} {
  const named = Object.entries(attributes).map(([name, criterion]) => [`attributes.${name}`, criterion] as const);
  const spelled = conditionsByField({ ...criteria, ...Object.fromEntries(named) });
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
 * Converts criteria into query parameters.
 * @param filters the parameters that are filters; other parameters stay unchanged
 * @throws TypeError for an empty list
 */
export function queryFilters(
  criteria: Readonly<Record<string, unknown>>,
  filters: readonly string[] = [],
): Record<string, unknown> {
  const given = Object.entries(criteria).filter(([, criterion]) => criterion !== undefined);
  return Object.fromEntries(
    given.map(([field, criterion]) => [field, filters.includes(field) ? queryValues(field, criterion) : criterion]),
  );
}

/**
 * Returns the values of a query parameter: `{ gte: 10, in: [20, 30] }` becomes `gte:10` and `in:20,30`.
 * @throws TypeError for an empty list
 */
export function queryValues(field: string, criterion: unknown): string[] {
  return Object.entries(conditionsOf(field, criterion)).flatMap(([operator, operand]: [string, unknown]) => {
    const values = (Array.isArray(operand) ? operand : [operand]).map(spellValue);
    // A list is never written as plain values, because they cannot be combined with operators.
    return operator === 'in' ? `in:${values.join(',')}` : values.map((value) => `${operator}:${value}`);
  });
}

/** Puts a value in double quotes, with backslash escapes, when it contains characters with a special meaning. */
function spellValue(value: unknown): string {
  const text = String(value);
  return /[",:\\]|^\s|\s$/.test(text) ? `"${text.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"` : text;
}
