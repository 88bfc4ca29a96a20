// A product: its members, the filters and sort orders that they permit, and its row in the database.
import {
  boolean,
  type Collection,
  type CollectionSpec,
  type Cursors,
  choice,
  decimal,
  matched,
  none,
  openCollection,
  ordered,
  selectAll,
  text,
  time,
  uuid,
  writeAll,
} from '@shop/shared/collection';
import { etagOf, type Reply } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { decimalsOf } from '@shop/shared/runtime';

const statuses = ['available', 'active', 'backorder', 'pending'] as const;

/** Sort orders for which brand and category have an index each; see migrations/0001. */
const scanned = ['createdAt', 'price', 'name', 'rating'];

/** All members of a product. A member that is not in this table appears in no response and in no SQL statement. */
export function productSpec(currency: string): CollectionSpec<unknown> {
  const price = decimal(decimalsOf(currency));
  return {
    name: 'products',
    from: 'products',
    fields: {
      id: { type: uuid(), operators: none, column: 'id', sortable: true },
      name: { type: text(200), operators: matched, column: 'name', sortable: true },
      description: { type: text(5000), operators: none, column: 'description' },
      brand: { type: text(100), operators: matched, column: 'brand', scans: scanned },
      category: { type: text(100), operators: matched, column: 'category', scans: scanned },
      price: {
        type: price,
        operators: ordered,
        column: 'price_minor',
        sortable: true,
        range: { from: 0, to: 100_000_000_000 },
      },
      currency: { type: text(3), operators: none, column: 'NULL', write: () => JSON.stringify(currency) },
      rating: {
        type: decimal(1),
        operators: ordered,
        column: 'rating_tenths',
        sortable: true,
        nullable: true,
        range: { from: 0, to: 50 },
        lowCardinality: { followedBy: ['price', 'createdAt'] },
      },
      status: { type: choice(statuses), operators: matched, column: 'status' },
      inStock: { type: boolean(), operators: none, column: '(stock > reserved)' },
      createdAt: { type: time(), operators: ordered, column: 'created_at', sortable: true },
      updatedAt: { type: time(), operators: none, column: 'updated_at' },
    },
    defaultSort: [
      { field: 'createdAt', direction: 'desc' },
      { field: 'id', direction: 'desc' },
    ],
  };
}

/** Products as the operations use them. */
export interface Products {
  readonly collection: Collection<unknown>;
  readonly currency: string;
  /** SELECT or RETURNING list of a whole product: its members as text, its version last. */
  readonly columns: string;
  /** The response with a row of `columns`. */
  reply(status: number, row: readonly (string | null)[], headers?: Readonly<Record<string, string>>): Reply;
}

export function openProducts(currency: string, cursors: Cursors): Products {
  const spec = productSpec(currency);
  const write = writeAll(spec);
  return {
    collection: openCollection(spec, cursors),
    currency,
    columns: `${selectAll(spec)}, version::text AS version`,
    reply: (status, row, headers = {}) => ({
      status,
      headers,
      etag: etagOf(Number(row.at(-1))),
      json: write(row, undefined),
    }),
  };
}

export function noSuchProduct(): Problem {
  return new Problem('not-found', 'There is no product with this id.');
}
