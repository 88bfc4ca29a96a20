// GET /v1/categories: the categories of the products, with the number of products of each.
import { fromQuery } from '@shop/shared/collection';
import type { Operation } from '../context.ts';
import { readNames } from '../product/name-counts.ts';

/** The page and a `Link` to the next one. 400 for an invalid query. */
export const listCategories: Operation<'listCategories'> = ({ query, faults, url }, { reads, products }) => {
  const { names } = products;
  const criteria = fromQuery(names.categories.spec, query, faults);
  return reads.read(undefined, (on) =>
    readNames({ list: 'categories', collection: names.categories, criteria, on, url }),
  );
};
