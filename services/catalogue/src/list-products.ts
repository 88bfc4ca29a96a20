// GET /v1/products: one page of products, filtered and sorted by the query string.
import { fromQuery, readPage } from '@shop/shared/collection';
import type { Operation } from './context.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 422 for one that is too costly. */
export const listProducts: Operation<'listProducts'> = async (request, { reads, products }) => {
  const { query, faults, url, caller } = request;
  const { collection } = products.viewFor(caller);
  const criteria = fromQuery(collection.spec, query, faults);
  return reads.readPage(caller, criteria, (pool) => readPage({ collection, criteria, pool, context: undefined, url }));
};
