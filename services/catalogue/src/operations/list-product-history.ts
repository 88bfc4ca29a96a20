// GET /v1/products/{productId}/history: one page of the changes of a product.
import { fromQuery, readPage } from '@shop/shared/collection';
import type { Operation } from '../context.ts';
import { noSuchProduct } from '../product/product.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 404 for an unknown id. */
export const listProductHistory: Operation<'listProductHistory'> = async (request, { database, products }) => {
  const { productId } = request.path;
  const { history: collection } = products;
  const criteria = fromQuery(collection.spec, request.query, request.faults);
  const { rows } = await database.pool.query('SELECT FROM products WHERE id = $1', [productId]);
  if (rows.length === 0) throw noSuchProduct();
  const scope = { product: productId };
  return readPage({ collection, criteria, pool: database.pool, scope, context: undefined, url: request.url });
};
