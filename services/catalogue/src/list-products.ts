// GET /v1/products: one page of products, filtered and sorted by the query string.
import { fromQuery, readPage } from '@shop/shared/collection';
import type { Operation } from './context.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 422 for one that is too costly. */
export const listProducts: Operation<'listProducts'> = async (request, { reads, products: { collection } }) => {
  const { query, faults, url } = request;
  const criteria = fromQuery(collection.spec, query, faults);
  return reads.read(request, (pool) => readPage({ collection, criteria, pool, context: undefined, url }));
};
