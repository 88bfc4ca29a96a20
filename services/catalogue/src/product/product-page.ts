// A page of products for both notations of a request: with or without a search, with or without facets.

import { type Collection, type Criteria, type Page, readPage } from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { countFacets, type FacetName } from '../search/facets.ts';
import { readSearchPage } from '../search/search-page.ts';
import type { Terms } from '../search/terms.ts';
import type { PageReader, ProductReads } from './product-reads.ts';

export interface ProductPageRequest {
  readonly collection: Collection<unknown>;
  readonly criteria: Criteria;
  /** The search string. */
  readonly text: string | undefined;
  /** Whether the request names a sort order. */
  readonly isSorted: boolean;
  readonly facets: readonly FacetName[];
  readonly withoutFacets: unknown;
  readonly decimals: number;
  readonly url?: string;
}

/** @throws Problem `invalid-cursor`; `query-too-costly` */
export function readProductPage(reads: ProductReads, request: PageReader, wanted: ProductPageRequest): Promise<Page> {
  const { collection, criteria, text, facets, url } = wanted;
  const place = { collection, criteria, context: undefined, ...(url === undefined ? {} : { url }) };
  if (text === undefined && facets.length === 0) return reads.readPage(request, place);
  return reads.read(request.caller, async (on) => {
    const more = (terms?: Terms) => facetsOf(wanted, on, terms);
    return text === undefined
      ? readPage({ ...place, pool: on, more: await more() })
      : readSearchPage({ ...place, on, text, isSorted: wanted.isSorted, more });
  });
}

async function facetsOf(
  { collection: { spec }, criteria, facets: names, withoutFacets: nearest, decimals }: ProductPageRequest,
  on: Queryable,
  terms: Terms | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (names.length === 0) return {};
  return { facets: await countFacets({ on, spec, criteria, terms, names, decimals, nearest }) };
}
