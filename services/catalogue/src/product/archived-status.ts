// The status of archived products. Their column `status` is `pending`, so that no list contains the product and no
// order can have it. Another column has the status that staff sees and that a restore sets again.
import { type WrittenColumn, writtenColumns } from './product-columns.ts';

/** The status that staff sees. */
export const shownStatus = 'coalesce(archived_status, status)';

/** SELECT list of the written columns, with the status that staff sees. */
export const shownColumns = writtenColumns
  .map((column) => (column === 'status' ? `${shownStatus} AS status` : column))
  .join(', ');

/**
 * Returns the SET list of an UPDATE of the written columns.
 * @param sourceOf returns an SQL expression for the new value of a column; for the status, the one that staff sees
 * @param staysArchived an SQL condition on the row before the change
 */
export function assignments(
  sourceOf: (column: WrittenColumn) => string,
  staysArchived = 'products.archived_status IS NOT NULL',
): string {
  const status = sourceOf('status');
  const archived = [
    `status = CASE WHEN ${staysArchived} THEN 'pending' ELSE ${status} END`,
    `archived_status = CASE WHEN ${staysArchived} THEN ${status} END`,
  ];
  const others = writtenColumns.filter((column) => column !== 'status');
  return [...archived, ...others.map((column) => `${column} = ${sourceOf(column)}`)].join(', ');
}
