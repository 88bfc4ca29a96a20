// GET /v1/products: one page of products, filtered and sorted by the query string.
import { fromQuery, readPage } from '@shop/shared/collection';
import type { OperationRequest, Reply } from '@shop/shared/http';
import type { CatalogueContext } from './context.ts';

/** The page and a `Link` to the next one. 400 for a query that is none, 422 for one that costs too much. */
export async function listProducts(
  request: OperationRequest,
  { reads, products: { collection } }: CatalogueContext,
): Promise<Reply> {
  const { query, faults, url } = request;
  const criteria = fromQuery(collection.spec, query, faults);
  return reads.read(request, (pool) => readPage({ collection, criteria, pool, context: undefined, url }));
}
