// The brands and the categories of the products, with the number of products of each.
import {
  type Collection,
  type CollectionSpec,
  type Criteria,
  type Cursors,
  json,
  none,
  openCollection,
  openPlace,
  type Page,
  queryRows,
  text,
  toBinding,
} from '@shop/shared/collection';
import type { Queryable } from '@shop/shared/database';
import { countedUpTo, writeCount } from '../search/written-count.ts';

const columns = { brands: 'brand', categories: 'category' } as const;
export type NameList = keyof typeof columns;

function nameSpec(name: NameList, visible: string): CollectionSpec<unknown> {
  return {
    name,
    from: visible,
    fields: {
      name: { type: text(100), operators: none, column: 'value', sortable: true },
      count: { type: json(), operators: none, column: 'count', write: (count) => writeCount(count ?? '0') },
    },
    defaultSort: [{ field: 'name', direction: 'asc' }],
  };
}

/** @param visible the products that customers see: a table expression */
export function openNameLists(cursors: Cursors, visible: string): Readonly<Record<NameList, Collection<unknown>>> {
  return {
    brands: openCollection(nameSpec('brands', visible), cursors),
    categories: openCollection(nameSpec('categories', visible), cursors),
  };
}

export interface NameListRequest {
  readonly list: NameList;
  readonly collection: Collection<unknown>;
  readonly criteria: Criteria;
  readonly on: Queryable;
  readonly url: string;
}

/**
 * Reads a page of names. Each name takes one step in an index, and its products are counted up to a bound. So the cost
 * of a page does not depend on the number of products.
 */
export async function readNames({ list, collection, criteria, on, url }: NameListRequest): Promise<Page> {
  const binding = toBinding(collection.spec, criteria, {});
  const place = openPlace({ collection, criteria, context: undefined, url }, binding);
  const column = columns[list];
  const { from } = collection.spec;
  const direction = criteria.sort[0]?.direction ?? 'asc';
  const sign = direction === 'asc' ? '>' : '<';
  const wanted = criteria.limit + 1;
  const next = (after: string) => `
    SELECT ${column} FROM ${from} WHERE ${after} ORDER BY ${column} ${direction} LIMIT 1`;
  const text = `
    WITH RECURSIVE found (value, place) AS (
      SELECT (${next(place.position ? `${column} ${sign} $1` : 'true')}), 1
      UNION ALL
      SELECT (${next(`${column} ${sign} found.value`)}), place + 1
      FROM found WHERE found.value IS NOT NULL AND place < ${wanted}
    )
    SELECT value, (
      SELECT count(*) FROM (SELECT FROM ${from} WHERE ${column} = value LIMIT ${countedUpTo + 1}) AS counted
    ) FROM found WHERE value IS NOT NULL ORDER BY place`;
  const rows = await queryRows(on, { text, values: [...(place.position ?? [])] });
  return place.write(
    new Map([
      ['value', 0],
      ['count', 1],
    ]),
    rows,
    ([name = null]) => [name],
  );
}
