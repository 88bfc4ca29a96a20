// GET /v1/products: one page of products, searched, filtered and sorted by the query string.
import { fromQuery } from '@shop/shared/collection';
import type { Operation } from '../context.ts';
import { readProductPage } from '../product/product-page.ts';
import { readFacets } from '../search/facets.ts';
import { readSearchText } from '../search/search-text.ts';

/** The page and a `Link` to the next one. 400 for an invalid query, 422 for one that is too costly. */
export const listProducts: Operation<'listProducts'> = async (request, { reads, products }) => {
  const { query, url } = request;
  const { collection } = products.viewFor(request.caller);
  const { text, faults } = readSearchText(query.q, { parameter: 'q' }, request.faults);
  const facets = readFacets(listOf(query.facets), () => ({ parameter: 'facets' }));
  const criteria = fromQuery(collection.spec, query, [...request.faults, ...faults, ...facets.faults]);
  return readProductPage(reads, request, {
    collection,
    criteria,
    text,
    isSorted: query.sort !== undefined,
    facets: facets.names,
    withoutFacets: facets.names.length === 0 ? undefined : withoutFacets(url),
    decimals: products.decimals,
    url,
  });
};

/** Returns the query string of a request without the parameter `facets`. */
function withoutFacets(url: string): string {
  // A value may contain further question marks.
  const parameters = url.slice(url.indexOf('?') + 1).split('&');
  return parameters.filter((parameter) => !new URLSearchParams(parameter).has('facets')).join('&');
}

/** Splits a parameter into names. A value that is not a string is returned unchanged, and rejected later. */
function listOf(parameter: unknown): unknown {
  return typeof parameter === 'string' ? parameter.split(',') : parameter;
}
