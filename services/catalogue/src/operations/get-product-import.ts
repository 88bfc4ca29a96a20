// GET /v1/products-imports/{importId}: the progress of an import, for staff.
import { Problem } from '@shop/shared/problem';
import type { Operation } from '../context.ts';
import { type ImportRow, importColumns, toProductImport } from '../imports/product-import.ts';

/** 404 for an unknown id, and for an import that ended more than 7 days ago. */
export const getProductImport: Operation<'getProductImport'> = async ({ path }, { database }) => {
  const { rows } = await database.pool.query<ImportRow>({
    name: 'product-import',
    text: `SELECT ${importColumns} FROM import_jobs WHERE id = $1`,
    values: [path.importId],
  });
  const [row] = rows;
  if (row === undefined) throw new Problem('not-found', 'There is no such import.');
  return { status: 200, body: toProductImport(row) };
};
