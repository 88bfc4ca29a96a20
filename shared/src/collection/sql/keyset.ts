// The SQL condition "after this row" in a total order, written so that PostgreSQL seeks in an index instead of
// filtering.
import type { Direction } from '../grammar/spec.ts';

export interface OrderColumn {
  readonly column: string;
  readonly direction: Direction;
  readonly nullable: boolean;
}

export interface SortColumn extends OrderColumn {
  /** The parameter with the last row's value; undefined when that value is NULL. */
  readonly parameter: string | undefined;
}

/**
 * Returns the condition for the rows after the last one. With one direction and without NULLs, it is a row comparison.
 * Otherwise it is written out, preceded by the bound of the leading column, because without a plain bound PostgreSQL
 * would read the whole index and filter.
 */
export function after(columns: readonly SortColumn[]): string {
  const [leading] = columns;
  if (!leading) throw new RangeError('an order has at least one column');
  const sign = leading.direction === 'asc' ? '>' : '<';
  if (columns.every((each) => each.direction === leading.direction && !each.nullable)) {
    if (columns.length === 1) return `${leading.column} ${sign} ${leading.parameter}`;
    return (
      `(${list(columns, ({ column }) => column)}) ${sign} ` +
      `(${list(columns, ({ parameter }) => parameter ?? 'NULL')})`
    );
  }
  const bound = leading.nullable ? [] : [`${leading.column} ${sign}= ${leading.parameter}`];
  return [...bound, `(${spelledOut(columns)})`].join(' AND ');
}

function list(columns: readonly SortColumn[], text: (column: SortColumn) => string): string {
  return columns.map(text).join(', ');
}

/** NULLs are last in both directions. After a value, NULLs may follow; after a NULL, only further NULLs. */
function spelledOut([first, ...rest]: readonly SortColumn[]): string {
  if (!first) return 'false';
  const { column, direction, nullable, parameter } = first;
  const equal = parameter === undefined ? `${column} IS NULL` : `${column} = ${parameter}`;
  const tied = rest.length > 0 ? `${equal} AND (${spelledOut(rest)})` : undefined;
  const later = parameter === undefined ? undefined : `${column} ${direction === 'asc' ? '>' : '<'} ${parameter}`;
  const absent = nullable && parameter !== undefined ? `${column} IS NULL` : undefined;
  return [later, absent, tied].filter((part) => part !== undefined).join(' OR ') || 'false';
}

/** Returns the ORDER BY of the columns, NULLs last. */
export function orderBy(columns: readonly OrderColumn[]): string {
  return columns
    .map(({ column, direction, nullable }) =>
      direction === 'asc' ? column : `${column} DESC${nullable ? ' NULLS LAST' : ''}`,
    )
    .join(', ');
}
