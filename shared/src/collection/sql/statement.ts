// Compiles checked criteria to one parameterised SELECT for their shape. The SQL text is created once, and the values
// for each request.

import type { Condition, Criteria } from '../grammar/criteria.ts';
import { type CollectionSpec, fieldNamed, membersOf } from '../grammar/spec.ts';
import { type Bind, type Input, parameters } from './bind-parameters.ts';
import { type Branch, hasStablePlan, type Located, toBranches } from './branches.ts';
import { after, type OrderColumn, orderBy, type SortColumn } from './keyset.ts';

/** A statement is cached for long, so it refers to nothing of the request that it was compiled from. */
export interface Statement {
  readonly text: string;
  /** Returns the parameters for another request of the same shape. */
  readonly values: (input: Input) => unknown[];
  /** The index of the column of the result for each selected expression. */
  readonly columns: ReadonlyMap<string, number>;
  /** Whether one plan is good for all values, so that it can be prepared. */
  readonly stablePlan: boolean;
}

/**
 * Up to this number of values, each value of a list is a branch of a UNION, and the branches are merged lazily. For
 * more values, LATERAL limits the length of the SQL text.
 */
const unionBranches = 8;

/** Returns the text that is equal for two requests which differ only in values. */
export function toShape({ criteria, position }: Input): string {
  const conditions = (list: readonly Condition[]) =>
    list.map((c) => (c.operator === 'in' ? `${c.field} in${c.values.length}` : `${c.field} ${c.operator}`)).join();
  return [
    conditions(criteria.conditions),
    criteria.or.map(conditions).join(';'),
    criteria.sort.map(({ field, direction }) => `${field} ${direction}`).join(),
    criteria.limit,
    criteria.fields?.join() ?? '*',
    position?.map((value) => (value === null ? 'n' : 'v')).join('') ?? '',
  ].join('|');
}

/** Compiles the shape of a request. Identifiers come only from the spec; everything else is a parameter. */
export function compile(spec: CollectionSpec<never>, input: Input): Statement {
  const { criteria } = input;
  const { bind, values } = parameters();
  const columns = selected(spec, criteria);
  const list = listSql(columns);
  const rows = criteria.limit + 1;
  const scope = scopeSql(spec, bind);

  // The plan for a condition of the scope depends on how many rows match it.
  let stablePlan = Object.values(spec.scope ?? {}).every((each) => 'column' in each);
  const texts = toBranches(spec, criteria, input.position).flatMap((branch) => {
    const { unionOver, valueRange } = branch;
    const order = sortColumns(spec, input, branch, bind);
    const where = [
      ...scope,
      ...branch.rest.map((each) => conditionSql(spec, each, bind)),
      ...leadingSql(branch, order),
      ...afterSql(input, branch, order),
    ];
    stablePlan &&= hasStablePlan(spec, criteria, branch);
    const select = (fixed: readonly string[], by: readonly OrderColumn[] = order) => {
      const all = [...fixed, ...where];
      const condition = all.length > 0 ? ` WHERE ${all.join(' AND ')}` : '';
      return `SELECT ${list} FROM ${fromSql(spec, branch, bind)}${condition} ORDER BY ${orderBy(by)} LIMIT ${rows}`;
    };
    if (valueRange === 'all' || valueRange === 'later') {
      const [leading, ...others] = order;
      if (!leading) throw new RangeError('an order has at least one column');
      const { from, to } = fieldNamed(spec, criteria.sort[0]?.field ?? 'id').range ?? { from: 0, to: 0 };
      const sign = leading.direction === 'asc' ? '>' : '<';
      const each = `SELECT value FROM generate_series(${from}, ${to}) AS value${
        valueRange === 'later' ? ` WHERE value ${sign} ${leading.parameter}` : ''
      } ORDER BY value ${leading.direction.toUpperCase()}`;
      const scans = select([`${leading.column} = tie.value`], others);
      const tie = { column: 'tie.value', direction: leading.direction, nullable: false };
      const merge = orderBy([tie, ...resultColumns(columns, others)]);
      return [
        `SELECT page.* FROM (${each}) AS tie CROSS JOIN LATERAL (${scans}) AS page ORDER BY ${merge} LIMIT ${rows}`,
      ];
    }
    if (unionOver?.condition.operator !== 'in') return [select([])];
    const { column, type } = fieldNamed(spec, unionOver.condition.field);
    const listed = unionOver.condition.values;
    if (listed.length <= unionBranches) {
      return listed.map((_, item) => select([`${column} = ${bind({ ...unionOver.place, item }, type.cast)}`]));
    }
    const array = bind(unionOver.place, `${type.cast}[]`);
    const scans = select([`${column} = wanted.value`]);
    return [`SELECT page.* FROM unnest(${array}) AS wanted(value) CROSS JOIN LATERAL (${scans}) AS page`];
  });

  const [only = ''] = texts;
  const inOrder = texts.length === 1 && !only.includes(' LATERAL ');
  const text = inOrder ? only : merged(spec, criteria, columns, texts);
  return { text, stablePlan, columns, values };
}

/** The parts of a request's statement, for statements that do not read along an index of the sort order. */
export interface Fragments {
  /** The select list: the requested members and the sort columns. */
  readonly list: string;
  /** The index of the column of the result for each selected expression. */
  readonly columns: ReadonlyMap<string, number>;
  /** The conditions for a row, including those of the scope and of the position. A row has to meet all of them. */
  readonly where: readonly string[];
  /** The sort order of the result, with the names of the select list. */
  readonly order: string;
  /** The parameters of `where`, beginning with $1. */
  readonly values: readonly unknown[];
}

/** Returns the select list, the conditions and the order of a request. */
export function toFragments(spec: CollectionSpec<never>, input: Input): Fragments {
  const { criteria, position } = input;
  const { bind, values } = parameters();
  const columns = selected(spec, criteria);
  const all = (conditions: readonly Condition[], group?: number) =>
    conditions.map((condition, index) =>
      conditionSql(spec, { condition, place: group === undefined ? { index } : { group, index } }, bind),
    );
  const alternatives = criteria.or.map((conditions, group) => `(${all(conditions, group).join(' AND ')})`);
  const sort = criteria.sort.map(({ field, direction }, index): SortColumn => {
    const { column, nullable = false, type } = fieldNamed(spec, field);
    const isPresent = position !== undefined && position[index] !== null;
    return { column, direction, nullable, parameter: isPresent ? bind({ after: index }, type.cast) : undefined };
  });
  const where = [
    ...scopeSql(spec, bind),
    ...all(criteria.conditions),
    ...(alternatives.length > 0 ? [`(${alternatives.join(' OR ')})`] : []),
    ...(position ? [`(${after(sort)})`] : []),
  ];
  return {
    list: listSql(columns),
    columns,
    where,
    order: orderBy(resultColumns(columns, sort)),
    values: values(input),
  };
}

function listSql(columns: ReadonlyMap<string, number>): string {
  return [...columns].map(([column, index]) => `${column} AS c${index}`).join(', ');
}

function scopeSql(spec: CollectionSpec<never>, bind: Bind): string[] {
  return Object.entries(spec.scope ?? {}).map(([name, each]) => {
    const parameter = bind({ scope: name }, each.cast);
    return 'condition' in each ? each.condition(parameter) : `${each.column} = ${parameter}`;
  });
}

/** Returns the columns as a result of the select list names them. */
function resultColumns(columns: ReadonlyMap<string, number>, sort: readonly OrderColumn[]): OrderColumn[] {
  return sort.map(({ column, direction, nullable }) => ({ column: `c${columns.get(column)}`, direction, nullable }));
}

/**
 * Combines branches under one order and limit. Only alternatives can return a row twice, so only then duplicates are
 * removed.
 */
function merged(
  spec: CollectionSpec<never>,
  criteria: Criteria,
  columns: ReadonlyMap<string, number>,
  texts: readonly string[],
): string {
  const named = criteria.sort.map(({ field, direction }) => {
    const { column, nullable = false } = fieldNamed(spec, field);
    return { column, direction, nullable };
  });
  const sort = resultColumns(columns, named);
  const distinct = criteria.or.length > 1 ? `DISTINCT ON (${sort.map(({ column }) => column).join(', ')}) ` : '';
  const list = [...columns.values()].map((index) => `c${index}`).join(', ');
  const union = texts.map((text) => `(${text})`).join(' UNION ALL ');
  return `SELECT ${distinct}${list} FROM (${union}) AS merged ORDER BY ${orderBy(sort)} LIMIT ${criteria.limit + 1}`;
}

/** Returns the expressions to select: those of the requested members, and the sort columns for the cursor. */
function selected(spec: CollectionSpec<never>, criteria: Criteria): Map<string, number> {
  const columns = new Map<string, number>();
  const names = [...(criteria.fields ?? membersOf(spec)), ...criteria.sort.map(({ field }) => field)];
  for (const name of names) {
    const { column } = fieldNamed(spec, name);
    if (!columns.has(column)) columns.set(column, columns.size);
  }
  return columns;
}

/**
 * Returns the FROM clause. OFFSET 0 prevents a scan in the sort order, which could read every row to find the few
 * matching ones.
 */
function fromSql(spec: CollectionSpec<never>, { keys }: Branch, bind: Bind): string {
  if (keys.length === 0) return spec.from;
  const named = keys.map((each) => conditionSql(spec, each, bind));
  return `(SELECT * FROM ${spec.from} WHERE ${named.join(' AND ')} OFFSET 0) AS ${spec.name}`;
}

function leadingSql({ leading, valueRange }: Branch, [first]: readonly SortColumn[]): string[] {
  if (!first || valueRange === 'all' || valueRange === 'later') return [];
  if (valueRange === 'same') return [`${first.column} = ${first.parameter}`];
  return leading === 'any' ? [] : [`${first.column} IS ${leading === 'absent' ? '' : 'NOT '}NULL`];
}

/** Returns the sort columns of a branch. Its conditions and the split decide whether a column can be NULL. */
function sortColumns(
  spec: CollectionSpec<never>,
  { criteria, position }: Input,
  branch: Branch,
  bind: Bind,
): SortColumn[] {
  return criteria.sort.map(({ field, direction }, index) => {
    const { column, nullable, type } = fieldNamed(spec, field);
    const settled = index === 0 || branch.conditions.some(({ condition }) => condition.field === field);
    return {
      column,
      direction,
      nullable: nullable === true && !settled,
      // The parameter is bound only where it is used, because PostgreSQL rejects a parameter that does not occur in the
      // statement.
      get parameter() {
        if (!position || position[index] === null) return undefined;
        return bind({ after: index }, type.cast);
      },
    };
  });
}

function afterSql({ position }: Input, { leading, valueRange }: Branch, order: readonly SortColumn[]): string[] {
  if (!position || valueRange === 'all' || valueRange === 'later') return [];
  // Present values are first, so all rows with absent values follow a row with a present one.
  if (leading === 'absent' && position[0] !== null) return [];
  return [after(leading === 'absent' || valueRange === 'same' ? order.slice(1) : order)];
}

const signs = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

function conditionSql(spec: CollectionSpec<never>, { condition, place }: Located, bind: Bind): string {
  const { column, type, condition: write } = fieldNamed(spec, condition.field);
  if (write) return write(condition.operator, bind(place, condition.operator === 'in' ? `${type.cast}[]` : type.cast));
  if (condition.operator === 'in') return `${column} = ANY(${bind(place, `${type.cast}[]`)})`;
  return `${column} ${signs[condition.operator]} ${bind(place, type.cast)}`;
}
