// A product: its members for customers and for staff, the filters and sort orders that they permit, and its row in the
// database.
import type { Caller } from '@shop/shared/auth';
import {
  type Collection,
  type CollectionSpec,
  type Cursors,
  json,
  openCollection,
  selectAll,
  writeAll,
} from '@shop/shared/collection';
import { type Result, toEtag, toWeakEtag } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { findDecimals } from '@shop/shared/shop';
import { shownStatus } from './archived-status.ts';
import { attributeFields, type DeclaredAttribute } from './attribute-filters.ts';
import { openNameLists } from './name-counts.ts';
import { historySpec } from './product-changes.ts';
import { productFields, statuses } from './product-columns.ts';
import { variantFilters, variantsDigits, withVariants } from './variants.ts';

/** The products that customers see. */
const visible = "(SELECT * FROM products WHERE status <> 'pending') AS products";
const visibleStatuses = statuses.filter((status) => status !== 'pending');

/**
 * Returns all members of a product for customers. A member that is not in this table appears in no response to them and
 * in no SQL statement for it.
 */
export function productSpec(currency: string, declared: readonly DeclaredAttribute[] = []): CollectionSpec<unknown> {
  const fields = productFields(currency, 'customers');
  return {
    name: 'products',
    from: visible,
    parameters: ['q', 'facets'],
    fields: {
      ...fields,
      currency: { ...fields.currency, write: () => JSON.stringify(currency) },
      status: { ...fields.status, occurring: visibleStatuses },
      ...attributeFields(declared),
      ...variantFilters,
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

/** Returns all members of a product for staff, and all products. Sort orders and cursors are those of customers. */
export function staffSpec(currency: string, declared: readonly DeclaredAttribute[] = []): CollectionSpec<unknown> {
  const fields = productFields(currency, 'staff');
  const spec = productSpec(currency, declared);
  return {
    ...spec,
    from: 'products',
    fields: {
      ...fields,
      ...spec.fields,
      status: { ...fields.status, column: shownStatus },
      stock: { ...fields.stock, type: json(), column: stockFigures },
      archived: { ...fields.archived, write: (column) => (column?.startsWith('t') ? 'true' : undefined) },
    },
  };
}

/** Products as one kind of caller sees them. */
export interface ProductView {
  readonly collection: Collection<unknown>;
  /** The SELECT or RETURNING list of a whole product: its members as JSON text, then the columns of its entity tag. */
  readonly columns: string;
  /** Returns the version in a row of `columns`. */
  versionOf(row: readonly (string | null)[]): number;
  /** Returns the response with a row of `columns`. */
  result(status: number, row: readonly (string | null)[], headers?: Readonly<Record<string, string>>): Result;
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
  /** One product with the variants of its group. Its entity tag also changes with them. */
  detailFor(caller: Caller | undefined): ProductView;
}

export function openProducts(
  currency: string,
  cursors: Cursors,
  declared: readonly DeclaredAttribute[] = [],
): Products {
  const view = (spec: CollectionSpec<unknown>, versionSql: string): ProductView => {
    const write = writeAll(spec);
    return {
      collection: openCollection(spec, cursors),
      columns: `${selectAll(spec)}, ${versionSql} AS version`,
      versionOf: (row) => Number.parseInt(row.at(-1) ?? '', 10),
      result: (status, row, headers = {}) => {
        const version = row.at(-1) ?? '';
        const etag = version.includes('.') ? toWeakEtag(version) : toEtag(version);
        return { status, headers, etag, json: write(row, undefined) };
      },
    };
  };
  const [forCustomers, forStaff] = [productSpec(currency, declared), staffSpec(currency, declared)];
  const customers = view(forCustomers, 'version::text');
  const staff = view(forStaff, "concat_ws('.', version, stock, reserved + oversold)");
  const detail = view(withVariants(forCustomers), `concat_ws('.', version, '0.' || ${variantsDigits})`);
  const staffDetail = view(
    withVariants(forStaff),
    `concat_ws('.', version, stock, (reserved + oversold) || coalesce(${variantsDigits}, ''))`,
  );
  const lists = { names: openNameLists(cursors, visible), history: openCollection(historySpec, cursors) };
  return {
    currency,
    decimals: findDecimals(currency),
    ...lists,
    staff,
    viewFor: (caller) => (caller === undefined ? customers : staff),
    detailFor: (caller) => (caller === undefined ? detail : staffDetail),
  };
}

export function noSuchProduct(): Problem {
  return new Problem('not-found', 'There is no product with this id.');
}
