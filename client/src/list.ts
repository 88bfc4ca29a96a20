// The lists of the shop: all items one after the other, or one page. Criteria and options have the same structure for
// each list.
import type { Answer, Calls, Data, OperationId } from './call.ts';
import type { components, Endpoint, operations } from './contract.ts';
import { type Criteria, type OrderCriteria, type ProductCriteria, queryFilters, searchBody } from './criteria.ts';
import { itemsOf, type Page, pagesOf } from './pages.ts';
import { dataOf } from './shop-error.ts';

type Schemas = components['schemas'];

export type Order = Schemas['Order'];
export type Product = Schemas['Product'];

export type Sort<Sortable extends string = string> = readonly {
  readonly field: Sortable;
  readonly direction: 'asc' | 'desc';
}[];

export interface ListOptions<Field extends string = string, Sortable extends string = string> {
  readonly sort?: Sort<Sortable>;
  /** The members to return; default all. */
  readonly fields?: readonly Field[];
  /** The number of items for each request, 1 to 100; default 100, and 20 for `page`. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface PageOptions<Field extends string = string, Sortable extends string = string>
  extends ListOptions<Field, Sortable> {
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Properties of a list that the contract does not state: the types of its whole items, its filters and its sort. */
interface Lists {
  readonly listOrders: {
    item: Order;
    criteria: OrderCriteria;
    sort: 'createdAt' | 'updatedAt' | 'totalCost' | 'id';
    more: unknown;
  };
  readonly searchProducts: {
    item: Product;
    criteria: ProductCriteria;
    sort: NonNullable<Schemas['ProductSearch']['sort']>[number]['field'];
    /** The products of the whole result by brand, by category, and by range of prices. */
    more: { readonly facets?: readonly ('brand' | 'category' | 'price')[] };
  };
  readonly listBrands: NameList;
  readonly listCategories: NameList;
}

interface NameList {
  item: Required<Schemas['NameCount']>;
  criteria: Readonly<Record<string, never>>;
  sort: 'name';
  more: unknown;
}

type Items<Listed> = Listed extends { readonly items: readonly (infer Item)[] } ? Item : never;

type Query<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

interface AnyList<Id extends OperationId> {
  item: Items<Data<operations[Id]>>;
  criteria: Criteria<Omit<Query<Id>, 'sort' | 'fields' | 'limit' | 'cursor'>>;
  sort: string;
  more: unknown;
}

type ListOf<Id extends OperationId> = Id extends keyof Lists ? Lists[Id] : AnyList<Id>;

type Item<Id extends OperationId> = ListOf<Id>['item'];
type Field<Id extends OperationId> = keyof Item<Id> & string;
type Sortable<Id extends OperationId> = ListOf<Id>['sort'];

/** The id in the path of the list, if it has one, and the criteria of its items. */
type Given<Id extends OperationId> = operations[Id]['parameters'] extends { readonly path: infer Values }
  ? [id: Values[keyof Values], criteria?: ListOf<Id>['criteria']]
  : [criteria?: ListOf<Id>['criteria']];

/**
 * All items that meet the criteria. Further pages are requested as the items are read. A TypeError is thrown for an
 * empty list in the criteria.
 */
export interface List<Id extends OperationId> {
  <Only extends Field<Id> = Field<Id>>(
    ...given: [...Given<Id>, options?: ListOptions<Only, Sortable<Id>>]
  ): AsyncGenerator<Pick<Item<Id>, Only>, void>;
  /** Returns one page: the first, or the one at `cursor`. `pagination.nextCursor` leads to the next. */
  page<Only extends Field<Id> = Field<Id>>(
    ...given: [...Given<Id>, options?: PageOptions<Only, Sortable<Id>> & ListOf<Id>['more']]
  ): Promise<Omit<Data<operations[Id]>, 'items'> & { readonly items: Pick<Item<Id>, Only>[] }>;
}

type AnyOptions = PageOptions & { readonly facets?: readonly string[] };

/** @param target method and path */
export function createList(call: Calls, target: string, endpoint: Endpoint) {
  const [method = '', path = ''] = target.split(' ');
  // The types of a path that is only known at run time cannot be computed.
  const send = call[method as keyof Calls] as (path: string, init: object) => Promise<Answer<unknown>>;
  /** Returns a function that reads the page at a cursor. */
  const reader = (given: unknown[], defaults: AnyOptions) => {
    const params = path.includes('{') ? { path: pathValues(path, given.shift()) } : {};
    const [criteria = {}, options = {}] = given as [Readonly<Record<string, unknown>>?, AnyOptions?];
    const { signal, limit = defaults.limit, ...rest } = options;
    const asked = { ...rest, ...(limit !== undefined && { limit }) };
    const own = { ...(signal && { signal }) };
    const request = endpoint.body
      ? (each: AnyOptions) => ({ ...own, params, body: { ...body, ...pageOf(each) } })
      : (each: AnyOptions) => ({ ...own, params: { ...params, query: { ...query, ...each } } });
    // Faulty criteria throw before a request.
    const body = endpoint.body ? searchBody(criteria) : {};
    const query = endpoint.body ? {} : queryFilters(criteria, endpoint.filters);
    return async (cursor = asked.cursor): Promise<Page<unknown>> => {
      const each = { ...asked, ...(cursor !== undefined && { cursor }) };
      return dataOf(endpoint.id, await send(path, request(each))) as Page<unknown>;
    };
  };
  const all = (...given: unknown[]) => itemsOf(pagesOf(reader(given, { limit: 100 })));
  return Object.assign(all, { page: async (...given: unknown[]) => reader(given, {})() });
}

/** Returns the members of a search beside its filters. */
function pageOf({ limit, cursor, ...rest }: AnyOptions): object {
  const pagination = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
  return { ...rest, ...(Object.keys(pagination).length > 0 && { pagination }) };
}

/** Returns the path parameter with its value. */
export function pathValues(path: string, value: unknown): Record<string, unknown> {
  return { [/\{(\w+)\}/.exec(path)?.[1] ?? '']: value };
}
