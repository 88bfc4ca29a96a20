// Follows changes: waits for new ones, continues after failures, and keeps a copy of resources up to date.
import type { Calls } from './call.ts';
import type { components } from './contract.ts';
import type { Order, Product } from './list.ts';
import type { Operations } from './operations.ts';
import { pause } from './pause.ts';
import { dataOf, isShopError } from './shop-error.ts';

type Schemas = components['schemas'];
export type Change = Schemas['Change'];
export type ChangePage = Schemas['ChangePage'];
export type Return = Schemas['Return'];

type ChangedType = 'account' | 'discount' | 'order' | 'product' | 'return' | 'shipping-method' | 'tax-rate';

export interface ChangesOptions {
  /** The types of resources; default all. */
  readonly types?: readonly ChangedType[];
  /** The `nextCursor` after which to continue; default the present. */
  readonly cursor?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** The resources that `follow` keeps up to date. */
export interface Followed {
  readonly products: Product;
  readonly orders: Order;
  readonly returns: Return;
}

/** The present state of a resource. `value` is undefined when the caller no longer sees it. */
export interface FollowedState<Value> {
  readonly id: string;
  readonly value: Value | undefined;
}

export interface FollowOptions {
  /** The accounts whose orders or returns are followed; default the caller's own. Staff follows `all`. */
  readonly accountId?: string;
  /** Called when every resource that exists has been yielded, and again after each further list. */
  readonly onComplete?: () => void;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** Seconds for which one request waits for a change. */
const wait = 20;
/** The largest page. */
const limit = 100;
const firstPause = 500;
const longestPause = 10_000;

/**
 * Iterates over the pages of changes, and waits for further ones. A temporary failure is followed by another request.
 * @param isTemporary whether a failed request may succeed later
 * @throws ShopError, such as `cursor-expired`; the reason of the signal
 */
export async function* changesAfter(
  call: Calls,
  isTemporary: (error: unknown) => boolean,
  { types, cursor = 'now', signal }: ChangesOptions,
): AsyncGenerator<ChangePage, void> {
  let after = cursor;
  let failures = 0;
  for (;;) {
    const query = { cursor: after, limit, ...(types && { types: types.join(',') }), ...(after !== 'now' && { wait }) };
    try {
      const page = dataOf(
        'listChanges',
        await call.GET('/v1/changes', { params: { query }, ...(signal && { signal }) }),
      );
      failures = 0;
      after = page.nextCursor;
      if (page.items.length > 0) yield page;
    } catch (error) {
      if (signal?.aborted === true || !isTemporary(error)) throw error;
      failures += 1;
      // Clients that lost the same shop do not return at the same time.
      await pause(Math.min(longestPause, firstPause * 2 ** failures) * (0.5 + Math.random() / 2), signal);
    }
  }
}

/**
 * Yields the state of each resource, and then its new state after each change. A resource is read after its change, so a
 * consumer that keeps the last state by id has the same as the shop, whatever happened meanwhile.
 * @throws ShopError; the reason of the signal
 */
export async function* follow<Kind extends keyof Followed>(
  { call, operations, isTemporary }: FollowedShop,
  kind: Kind,
  { accountId, onComplete, signal }: FollowOptions,
): AsyncGenerator<FollowedState<Followed[Kind]>, void> {
  const options = { ...(signal && { signal }) };
  const { type, list, get } = resources[kind](operations, { ...(accountId !== undefined && { accountId }) }, options);
  const state = (id: string, value: unknown) => ({ id, value: value as Followed[Kind] | undefined });
  const known = new Set<string>();
  for (;;) {
    try {
      // The position comes first, so that no change between the list and the first page of changes is missed.
      const init = { params: { query: { cursor: 'now' } }, ...options };
      const { nextCursor: cursor } = dataOf('listChanges', await call.GET('/v1/changes', init));
      const missing = new Set(known);
      for await (const value of list()) {
        missing.delete(value.id);
        known.add(value.id);
        yield state(value.id, value);
      }
      for (const id of missing) {
        known.delete(id);
        yield state(id, undefined);
      }
      onComplete?.();
      for await (const { items } of changesAfter(call, isTemporary, { types: [type], cursor, ...options })) {
        for (const id of new Set(items.map(({ resource }) => resource.split('/').at(-1) ?? ''))) {
          const value = await get(id).catch(absent);
          if (value === undefined) known.delete(id);
          else known.add(id);
          yield state(id, value);
        }
      }
    } catch (error) {
      const isExpired = isShopError(error) && error.code === 'cursor-expired';
      if (signal?.aborted === true || !(isExpired || isTemporary(error))) throw error;
      await pause(firstPause, signal);
    }
  }
}

export interface FollowedShop {
  readonly call: Calls;
  readonly operations: Operations;
  readonly isTemporary: (error: unknown) => boolean;
}

/** @throws the error, unless it says that there is no such resource */
function absent(error: unknown): undefined {
  if (!isShopError(error) || error.status !== 404) throw error;
}

interface Resource {
  readonly type: 'order' | 'product' | 'return';
  list(): AsyncGenerator<{ readonly id: string }, void>;
  get(id: string): Promise<{ readonly id: string }>;
}

type OpenResource = (
  operations: Operations,
  criteria: { readonly accountId?: string },
  options: { readonly signal?: AbortSignal },
) => Resource;

const resources: Readonly<Record<keyof Followed, OpenResource>> = {
  products: ({ products }, _, options) => ({
    type: 'product',
    list: () => products({}, options) as ReturnType<Resource['list']>,
    get: (id) => products.get(id, options),
  }),
  orders: ({ orders }, criteria, options) => ({
    type: 'order',
    list: () => orders(criteria, options),
    get: (id) => orders.get(id, options),
  }),
  returns: ({ returns }, criteria, options) => ({
    type: 'return',
    list: () => returns(criteria, options) as ReturnType<Resource['list']>,
    get: (id) => returns.get(id, options),
  }),
};
