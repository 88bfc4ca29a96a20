// POST /v1/products/search: the same page, for criteria that are too long, complex or private for an address.
import { fromBody, readPage } from '@shop/shared/collection';
import type { OperationRequest, Reply } from '@shop/shared/http';
import type { CatalogueContext } from './context.ts';

/** Takes and gives the same cursors as the list. 400 for a body that is no search, 422 for one that costs too much. */
export async function searchProducts(
  { body }: OperationRequest,
  { database, products: { collection } }: CatalogueContext,
): Promise<Reply> {
  const criteria = fromBody(collection.spec, body);
  return readPage({ collection, criteria, pool: database.pool, context: undefined });
}
