import type { Operation } from '../context.ts';
import { noSuchProduct } from '../product/product.ts';

/**
 * 404 for an unknown id, and for a product that the caller may not see. create-app compares the entity tag and sends a
 * 304 if it matches.
 */
export const getProduct: Operation<'getProduct'> = async ({ path, caller }, { database, products }) => {
  const { collection, columns, result } = products.detailFor(caller);
  const { rows } = await database.pool.query<(string | null)[]>({
    name: caller === undefined ? 'product' : 'staff-product',
    text: `SELECT ${columns} FROM ${collection.spec.from} WHERE id = $1`,
    values: [path.productId],
    rowMode: 'array',
  });
  const [row] = rows;
  if (!row) throw noSuchProduct();
  return result(200, row);
};
