// Checked criteria → one parameterised SELECT for their shape: the text is made once, the values per request.
import type { Condition, Criteria } from './criteria.ts';
import type { Position } from './cursor.ts';
import { after, orderBy, type SortColumn } from './keyset.ts';
import type { CollectionSpec, Field } from './spec.ts';

/** Values for the scope of a spec: name → value. */
export type Scope = Readonly<Record<string, string>>;

export interface Input {
  readonly criteria: Criteria;
  readonly position: Position | undefined;
  readonly scope: Scope;
}

export interface Statement {
  readonly text: string;
  /** The parameters of another request of the same shape. */
  readonly values: (input: Input) => unknown[];
  /** Column of the result that holds each selected expression. */
  readonly columns: ReadonlyMap<string, number>;
  /**
   * Whether one plan serves all values. Where rows are filtered along an index, the best plan depends on how many rows
   * the values keep, and PostgreSQL has to see them.
   */
  readonly steady: boolean;
}

/** Up to here each value of a fanned list is a branch of a UNION, merged lazily; beyond, LATERAL keeps the text short. */
const unionBranches = 8;

/** What two requests have in common when they differ in values only. */
export function shapeOf({ criteria, position }: Input): string {
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

type Binding = (input: Input) => unknown;

/** A condition by its place, which is the same in every request of a shape, while its values are not. */
interface Located {
  readonly condition: Condition;
  readonly key: string;
  readonly find: (criteria: Criteria) => Condition | undefined;
}

interface Branch {
  readonly conditions: readonly Located[];
  /** The leading sort column of this branch's rows: any value, present, or absent. */
  readonly leading: 'any' | 'present' | 'absent';
}

/** Compiles the shape of a request. Identifiers come from the spec alone; everything else is a parameter. */
export function compile(spec: CollectionSpec<never>, input: Input): Statement {
  const { criteria } = input;
  const bindings: Binding[] = [];
  const numbers = new Map<string, string>();
  const bind = (key: string, cast: string, binding: Binding): string => {
    const known = numbers.get(key);
    if (known) return known;
    bindings.push(binding);
    const parameter = `$${bindings.length}::${cast}`;
    numbers.set(key, parameter);
    return parameter;
  };
  const columns = selected(spec, criteria);
  const list = [...columns].map(([column, index]) => `${column} AS c${index}`).join(', ');
  const rows = criteria.limit + 1;
  const scope = Object.entries(spec.scope ?? {}).map(
    ([name, { column, cast }]) => `${column} = ${bind(`scope ${name}`, cast, (given) => given.scope[name])}`,
  );

  let steady = true;
  const texts = branchesOf(spec, input).flatMap((branch) => {
    const fan = fanned(spec, criteria, branch.conditions);
    const rest = branch.conditions.filter((each) => each !== fan);
    const where = [
      ...scope,
      ...rest.map((each) => conditionSql(spec, each, bind)),
      ...leadingSql(spec, criteria, branch),
      ...afterSql(spec, input, branch, bind),
    ];
    steady &&= isSteady(spec, criteria, rest, fan);
    const order = orderBy(sortColumns(spec, criteria, branch));
    const select = (fixed: readonly string[]) => {
      const all = [...fixed, ...where];
      const condition = all.length > 0 ? ` WHERE ${all.join(' AND ')}` : '';
      return `SELECT ${list} FROM ${spec.from}${condition} ORDER BY ${order} LIMIT ${rows}`;
    };
    if (fan?.condition.operator !== 'in') return [select([])];
    const { column, type } = fieldNamed(spec, fan.condition.field);
    const { values } = fan.condition;
    const listed = (given: Input) => {
      const found = fan.find(given.criteria);
      return found?.operator === 'in' ? found.values : [];
    };
    if (values.length <= unionBranches) {
      return values.map((_, index) =>
        select([`${column} = ${bind(`${fan.key} ${index}`, type.cast, (given) => listed(given)[index])}`]),
      );
    }
    const array = bind(fan.key, `${type.cast}[]`, listed);
    const scans = select([`${column} = wanted.value`]);
    return [`SELECT page.* FROM unnest(${array}) AS wanted(value) CROSS JOIN LATERAL (${scans}) AS page`];
  });

  const [only = ''] = texts;
  const inOrder = texts.length === 1 && !only.includes(' LATERAL ');
  const text = inOrder ? only : merged(spec, criteria, columns, texts);
  return { text, steady, columns, values: (given) => bindings.map((binding) => binding(given)) };
}

/** Branches under one order and limit. Only alternatives can hold a row twice; id makes equal sort values equal rows. */
function merged(
  spec: CollectionSpec<never>,
  criteria: Criteria,
  columns: ReadonlyMap<string, number>,
  texts: readonly string[],
): string {
  const sort = criteria.sort.map(({ field, direction }) => {
    const { column, nullable } = fieldNamed(spec, field);
    return { column: `c${columns.get(column)}`, direction, nullable: nullable === true };
  });
  const distinct = criteria.or.length > 1 ? `DISTINCT ON (${sort.map(({ column }) => column).join(', ')}) ` : '';
  const list = [...columns.values()].map((index) => `c${index}`).join(', ');
  const union = texts.map((text) => `(${text})`).join(' UNION ALL ');
  return `SELECT ${distinct}${list} FROM (${union}) AS merged ORDER BY ${orderBy(sort)} LIMIT ${criteria.limit + 1}`;
}

function fieldNamed(spec: CollectionSpec<never>, name: string): Field<never> {
  const field = spec.fields[name];
  if (!field) throw new RangeError(`${spec.name} has no field ${name}`);
  return field;
}

/** Expressions to select: those of the members asked for, and the sort columns for the cursor. */
function selected(spec: CollectionSpec<never>, criteria: Criteria): Map<string, number> {
  const columns = new Map<string, number>();
  const names = [...(criteria.fields ?? Object.keys(spec.fields)), ...criteria.sort.map(({ field }) => field)];
  for (const name of names) {
    const { column } = fieldNamed(spec, name);
    if (!columns.has(column)) columns.set(column, columns.size);
  }
  return columns;
}

/**
 * One branch per alternative. When the leading sort column may be NULL, its NULLs are a branch of their own: "present,
 * then absent" is no order of an index, while each half is.
 */
function branchesOf(spec: CollectionSpec<never>, { criteria, position }: Input): Branch[] {
  const common: Located[] = criteria.conditions.map((condition, index) => ({
    condition,
    key: `${index}`,
    find: (given) => given.conditions[index],
  }));
  const alternatives = criteria.or.map((group, at) =>
    group.map((condition, index): Located => {
      return { condition, key: `${at}/${index}`, find: (given) => given.or[at]?.[index] };
    }),
  );
  const [leading] = criteria.sort;
  return (alternatives.length > 0 ? alternatives : [[]]).flatMap((group): Branch[] => {
    const conditions = [...common, ...group];
    const mayBeAbsent =
      leading !== undefined &&
      fieldNamed(spec, leading.field).nullable === true &&
      conditions.every(({ condition }) => condition.field !== leading.field);
    if (!mayBeAbsent) return [{ conditions, leading: 'any' }];
    const absent = { conditions, leading: 'absent' } as const;
    return position?.[0] === null ? [absent] : [{ conditions, leading: 'present' }, absent];
  });
}

function leadingSql(spec: CollectionSpec<never>, { sort: [leading] }: Criteria, branch: Branch): string[] {
  if (!leading || branch.leading === 'any') return [];
  return [`${fieldNamed(spec, leading.field).column} IS ${branch.leading === 'absent' ? '' : 'NOT '}NULL`];
}

/** Sort columns as a branch sees them: conditions and the split settle whether the leading one can be NULL. */
function sortColumns(
  spec: CollectionSpec<never>,
  criteria: Criteria,
  branch: Branch,
): Pick<SortColumn, 'column' | 'direction' | 'nullable'>[] {
  return criteria.sort.map(({ field, direction }, index) => {
    const { column, nullable } = fieldNamed(spec, field);
    const settled = index === 0 || branch.conditions.some(({ condition }) => condition.field === field);
    return { column, direction, nullable: nullable === true && !settled };
  });
}

function afterSql(
  spec: CollectionSpec<never>,
  { criteria, position }: Input,
  branch: Branch,
  bind: (key: string, cast: string, binding: Binding) => string,
): string[] {
  if (!position) return [];
  // Present values come first, so that after one of them every absent row follows.
  if (branch.leading === 'absent' && position[0] !== null) return [];
  const columns = sortColumns(spec, criteria, branch).map((each, index): SortColumn => {
    const { cast } = fieldNamed(spec, criteria.sort[index]?.field ?? 'id').type;
    const present = position[index] !== null;
    return {
      ...each,
      parameter: present ? bind(`after ${index}`, cast, (given) => given.position?.[index]) : undefined,
    };
  });
  return [after(branch.leading === 'absent' ? columns.slice(1) : columns)];
}

const signs = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

function conditionSql(
  spec: CollectionSpec<never>,
  { condition, key, find }: Located,
  bind: (key: string, cast: string, binding: Binding) => string,
): string {
  const { column, type } = fieldNamed(spec, condition.field);
  const binding: Binding = (given) => {
    const found = find(given.criteria);
    return found?.operator === 'in' ? found.values : found?.value;
  };
  if (condition.operator === 'in') return `${column} = ANY(${bind(key, `${type.cast}[]`, binding)})`;
  return `${column} ${signs[condition.operator]} ${bind(key, type.cast, binding)}`;
}

/** The list to read as one ordered scan per value: the first that has an index for this order. */
function fanned(spec: CollectionSpec<never>, criteria: Criteria, conditions: readonly Located[]): Located | undefined {
  if (conditions.some(({ condition }) => condition.operator === 'eq' && isScanned(spec, criteria, condition))) {
    return undefined;
  }
  return conditions.find(({ condition }) => condition.operator === 'in' && isScanned(spec, criteria, condition));
}

function isScanned(spec: CollectionSpec<never>, { sort }: Criteria, { field }: Condition): boolean {
  return fieldNamed(spec, field).scans?.includes(sort[0]?.field ?? '') === true;
}

function isSteady(
  spec: CollectionSpec<never>,
  criteria: Criteria,
  rest: readonly Located[],
  fan: Located | undefined,
): boolean {
  const seeks = ({ condition }: Located) =>
    condition.field === criteria.sort[0]?.field ||
    (condition.operator === 'eq' && isScanned(spec, criteria, condition));
  return fan !== undefined || rest.every(seeks) || rest.some((each) => each.condition.operator === 'eq' && seeks(each));
}
