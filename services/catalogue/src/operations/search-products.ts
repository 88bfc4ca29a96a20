// POST /v1/products/search: lists products as GET /v1/products does, for criteria that are too long, complex or private
// for a URL.
import { fromBody } from '@shop/shared/collection';
import { toNode } from '@shop/shared/contract';
import type { Operation } from '../context.ts';
import { readProductPage } from '../product/product-page.ts';
import { readFacets } from '../search/facets.ts';
import { readSearchText } from '../search/search-text.ts';

/** Accepts and returns the same cursors as the list. 400 for an invalid body, 422 for a query that is too costly. */
export const searchProducts: Operation<'searchProducts'> = async (request, { reads, products }) => {
  const { collection } = products.viewFor(request.caller);
  const { facets: written, ...withoutFacets } = toNode(request.body);
  const { text, faults } = readSearchText(withoutFacets.q, { pointer: '/q' }, request.faults);
  const facets = readFacets(written, (index) => ({ pointer: index === undefined ? '/facets' : `/facets/${index}` }));
  const criteria = fromBody(collection.spec, request.body, [...request.faults, ...faults, ...facets.faults]);
  return readProductPage(reads, request, {
    collection,
    criteria,
    text,
    isSorted: withoutFacets.sort !== undefined,
    facets: facets.names,
    withoutFacets,
    decimals: products.decimals,
  });
};
