// A product: its members for customers and for staff, the filters and sort orders that they permit, and its row in the
// database.
import type { Caller } from '@shop/shared/auth';
import {
  boolean,
  type Collection,
  type CollectionSpec,
  type Cursors,
  choice,
  decimal,
  json,
  listed,
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
import { etagOf, type Reply, weakEtagOf } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { decimalsOf } from '@shop/shared/shop';
import { shownStatus } from './archived-status.ts';
import { attributeFields, type DeclaredAttribute } from './attribute-filters.ts';
import { openNameLists } from './name-counts.ts';
import { historySpec } from './product-changes.ts';
import { maximumPrice } from './product-input.ts';

const statuses = ['available', 'active', 'backorder', 'pending'] as const;

/** The products that customers see. */
const visible = "(SELECT * FROM products WHERE status <> 'pending') AS products";
const visibleStatuses = statuses.filter((status) => status !== 'pending');

/** Sort orders for which brand and category each have an index; see migrations/0001 and 0034. */
const scanned = ['createdAt', 'updatedAt', 'price', 'name', 'rating'];

/**
 * All members of a product for customers. A member that is not in this table appears in no response to them and in no
 * SQL statement for it.
 */
export function productSpec(currency: string, declared: readonly DeclaredAttribute[] = []): CollectionSpec<unknown> {
  const price = decimal(decimalsOf(currency));
  return {
    name: 'products',
    from: visible,
    parameters: ['q', 'facets'],
    fields: {
      id: { type: uuid(), operators: listed, column: 'id', sortable: true, unique: true },
      name: { type: text(200), operators: matched, column: 'name', sortable: true },
      description: { type: text(5000), operators: none, column: 'description' },
      brand: { type: text(100), operators: matched, column: 'brand', scans: scanned },
      category: { type: text(100), operators: matched, column: 'category', scans: scanned },
      price: {
        type: price,
        operators: ordered,
        column: 'price_minor',
        sortable: true,
        range: { from: 0, to: maximumPrice },
      },
      currency: { type: text(3), operators: none, column: 'NULL', write: () => JSON.stringify(currency) },
      rating: {
        type: decimal(1),
        operators: ordered,
        column: 'rating_tenths',
        sortable: true,
        nullable: true,
        range: { from: 0, to: 50 },
        lowCardinality: { followedBy: ['price', 'createdAt', 'updatedAt'] },
      },
      status: { type: choice(statuses), operators: matched, column: 'status', occurring: visibleStatuses },
      inStock: { type: boolean(), operators: listed, column: '(stock > reserved)' },
      images: { type: json(), operators: none, column: 'images' },
      attributes: { type: json(), operators: none, column: 'attributes' },
      ...attributeFields(declared),
      createdAt: { type: time(), operators: ordered, column: 'created_at', sortable: true },
      updatedAt: { type: time(), operators: ordered, column: 'updated_at', sortable: true },
    },
    defaultSort: [
      { field: 'createdAt', direction: 'desc' },
      { field: 'id', direction: 'desc' },
    ],
  };
}

/** The figures of a product's stock, for staff: a JSON object in SQL. */
export const stockFigures =
  "json_build_object('onHand', stock, 'promised', reserved + oversold, 'available', stock - reserved)";

/**
 * All members of a product for staff, and all products. Sort orders, cursors and filters are those of customers; staff
 * can also filter by `sku` and `archived`.
 */
export function staffSpec(currency: string, declared: readonly DeclaredAttribute[] = []): CollectionSpec<unknown> {
  const spec = productSpec(currency, declared);
  return {
    ...spec,
    from: 'products',
    fields: {
      ...spec.fields,
      status: { type: choice(statuses), operators: matched, column: shownStatus },
      archived: {
        type: boolean(),
        operators: listed,
        column: '(archived_status IS NOT NULL)',
        write: (column) => (column?.startsWith('t') ? 'true' : undefined),
      },
      stock: { type: json(), operators: none, column: stockFigures },
      sku: { type: text(200), operators: listed, column: 'external_key', nullable: true, unique: true },
      lowStockThreshold: { type: decimal(0), operators: none, column: 'low_stock_threshold' },
    },
  };
}

/** Products as one kind of caller sees them. */
export interface ProductView {
  readonly collection: Collection<unknown>;
  /** The SELECT or RETURNING list of a whole product: its members as text, then the columns of its entity tag. */
  readonly columns: string;
  /** The version in a row of `columns`. */
  versionOf(row: readonly (string | null)[]): number;
  /** The response with a row of `columns`. */
  reply(status: number, row: readonly (string | null)[], headers?: Readonly<Record<string, string>>): Reply;
}

/** Products as the operations use them. */
export interface Products {
  readonly currency: string;
  /** The number of decimals of amounts in the shop's currency. */
  readonly decimals: number;
  /** The lists of brands and of categories. */
  readonly names: ReturnType<typeof openNameLists>;
  /** The changes of a product, for staff. */
  readonly history: Collection<unknown>;
  readonly staff: ProductView;
  /** @param caller undefined unless the caller may change products */
  viewFor(caller: Caller | undefined): ProductView;
}

export function openProducts(
  currency: string,
  cursors: Cursors,
  declared: readonly DeclaredAttribute[] = [],
): Products {
  const view = (spec: CollectionSpec<unknown>, versionSql: string, toTag: (version: string) => string): ProductView => {
    const write = writeAll(spec);
    return {
      collection: openCollection(spec, cursors),
      columns: `${selectAll(spec)}, ${versionSql} AS version`,
      versionOf: (row) => Number.parseInt(row.at(-1) ?? '', 10),
      reply: (status, row, headers = {}) => {
        return { status, headers, etag: toTag(row.at(-1) ?? ''), json: write(row, undefined) };
      },
    };
  };
  const customers = view(productSpec(currency, declared), 'version::text', (version) => etagOf(Number(version)));
  const staff = view(staffSpec(currency, declared), "concat_ws('.', version, stock, reserved + oversold)", weakEtagOf);
  const lists = { names: openNameLists(cursors, visible), history: openCollection(historySpec, cursors) };
  return {
    currency,
    decimals: decimalsOf(currency),
    ...lists,
    staff,
    viewFor: (caller) => (caller === undefined ? customers : staff),
  };
}

export function noSuchProduct(): Problem {
  return new Problem('not-found', 'There is no product with this id.');
}
