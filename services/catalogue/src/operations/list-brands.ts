// GET /v1/brands: the brands of the products, with the number of products of each.
import { fromQuery } from '@shop/shared/collection';
import type { Operation } from '../context.ts';
import { readNames } from '../product/name-counts.ts';

/** The page and a `Link` to the next one. 400 for an invalid query. */
export const listBrands: Operation<'listBrands'> = ({ query, faults, url }, { reads, products }) => {
  const { names } = products;
  const criteria = fromQuery(names.brands.spec, query, faults);
  return reads.read(undefined, (on) => readNames({ list: 'brands', collection: names.brands, criteria, on, url }));
};
