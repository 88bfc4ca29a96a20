// POST /v1/products/search: the same page, for criteria that are too long, complex or private for an address.
import { fromBody, readPage } from '@shop/shared/collection';
import type { Operation } from './context.ts';

/** Accepts and returns the same cursors as the list. 400 for an invalid body, 422 for a query that is too costly. */
export const searchProducts: Operation<'searchProducts'> = async (request, { reads, products }) => {
  const { body, faults, caller } = request;
  const { collection } = products.viewFor(caller);
  const criteria = fromBody(collection.spec, body, faults);
  return reads.readPage(caller, criteria, (pool) => readPage({ collection, criteria, pool, context: undefined }));
};
