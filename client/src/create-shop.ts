// The client: typed calls that log in by themselves and are repeated where that is safe, and collections as one
// sequence.
import createClient, { type Client } from 'openapi-fetch';
import { type components, keyedPaths, type paths } from './contract.ts';
import { type OrderCriteria, type ProductCriteria, queryFilters, searchFilters } from './criteria.ts';
import { Refusal } from './refusal.ts';
import { repeating } from './repeat.ts';
import { Session, type Tokens } from './session.ts';
import { unlessAborted } from './unless-aborted.ts';

type Schemas = components['schemas'];
export type Product = Schemas['Product'];
export type Order = Schemas['Order'];
export type ProductImport = Schemas['ProductImport'];
/** A product of an import. `externalKey` is its `sku`. */
export type ProductLine = Omit<Schemas['NewProduct'], 'sku'> & { readonly externalKey: string };

export interface ShopOptions {
  /** The shop's address, such as `https://shop.example`; a path in it is prefixed to every operation's path. */
  readonly baseUrl: string;
  /** The maximum number of times that a request is sent, at least 1; default 4. */
  readonly attempts?: number;
  /** The longest `Retry-After` that the client waits for, in milliseconds; default 30,000. */
  readonly longestWait?: number;
  /** Tokens of an earlier session. */
  readonly tokens?: Tokens;
  /** Called with every new pair of tokens, and with `undefined` when the session has ended. */
  readonly onTokens?: (tokens: Tokens | undefined) => void;
  readonly fetch?: (request: Request) => Promise<Response>;
}

export interface Walk<Field extends string, Sortable extends string> {
  readonly sort?: readonly { readonly field: Sortable; readonly direction: 'asc' | 'desc' }[];
  /** The members to return; default all. */
  readonly fields?: readonly Field[];
  /** The number of items for each request, 1 to 100; default 100. */
  readonly limit?: number;
}

export interface Shop {
  /** Every operation, typed: `shop.call.GET('/v1/products/{productId}', …)` → `{ data, error, response }`. */
  readonly call: Client<paths>;
  /** @throws Refusal when the credentials are wrong */
  logIn(credentials: { readonly email: string; readonly password: string }): Promise<void>;
  /** Forgets the tokens, and revokes the refresh token. @throws Refusal when the shop did not revoke it */
  logOut(): Promise<void>;
  /**
   * All products that meet the criteria. Further pages are requested as the items are read.
   * @throws Refusal; TypeError for an empty list
   */
  products<Field extends keyof Product = keyof Product>(
    criteria?: ProductCriteria,
    walk?: Walk<Field, 'createdAt' | 'name' | 'price' | 'rating' | 'id'>,
  ): AsyncGenerator<Pick<Product, Field>, void>;
  /**
   * Imports products, up to 10 MiB as JSON lines, and waits until the import has ended. Lines with faults are in
   * `refusedLines`.
   * @throws Refusal
   */
  importProducts(products: Iterable<ProductLine>): Promise<ProductImport>;
  /** All of the caller's orders that meet the criteria. @throws Refusal; TypeError for an empty list */
  orders<Field extends keyof Order = keyof Order>(
    criteria?: OrderCriteria,
    walk?: Walk<Field, 'createdAt' | 'totalCost' | 'id'>,
  ): AsyncGenerator<Pick<Order, Field>, void>;
}

/** Creates a client of the shop at `baseUrl`. It sends nothing before the first call. */
export function createShop(options: ShopOptions): Shop {
  const { baseUrl, attempts = 4, longestWait = 30_000, onTokens = () => {} } = options;
  const send = repeating(options.fetch ?? ((request) => fetch(request)), { attempts, longestWait });
  let session: Session | undefined;
  const begin = (tokens: Tokens): void => {
    session?.end();
    session = new Session(tokens, { baseUrl, send, onTokens });
    onTokens(tokens);
  };
  if (options.tokens !== undefined) begin(options.tokens);

  const call = createClient<paths>({ baseUrl, fetch: (request) => sendAs(session, request, send) });
  call.use({
    onRequest({ request, schemaPath }) {
      // The key is created once, so that every repetition of this call has the same one.
      if (request.method === 'POST' && keyedPaths.has(schemaPath) && !request.headers.has('idempotency-key'))
        request.headers.set('Idempotency-Key', crypto.randomUUID());
      return request;
    },
  });

  return {
    call,
    async logIn(credentials) {
      begin(taken(await call.POST('/v1/tokens', { body: credentials })) as Tokens);
    },
    async logOut() {
      const tokens = session?.end();
      onTokens(undefined);
      if (tokens === undefined) return;
      const body = { refresh_token: tokens.refresh_token };
      const { error, response } = await call.POST('/v1/tokens/revoke', { body });
      if (!response.ok) throw new Refusal(response, error);
    },
    products(criteria = {}, { sort, fields, limit = 100 } = {}) {
      const search = {
        filters: searchFilters(criteria),
        ...(sort && { sort: [...sort] }),
        ...(fields && { fields: [...fields] }),
      };
      return pages(async (cursor) => {
        const pagination = { limit, ...(cursor !== undefined && { cursor }) };
        return taken(await call.POST('/v1/products/search', { body: { ...search, pagination } })) as Page<Product>;
      });
    },
    async importProducts(products) {
      const body = Array.from(products, (product) => `${JSON.stringify(product)}\n`).join('');
      const file = { body, bodySerializer: String, headers: { 'Content-Type': 'application/x-ndjson' } };
      let found = taken(await call.POST('/v1/products/imports', file));
      while (found.endedAt === undefined) {
        await new Promise((resolve) => setTimeout(resolve, progressEvery));
        const params = { path: { importId: found.id } };
        found = taken(await call.GET('/v1/products-imports/{importId}', { params }));
      }
      return found;
    },
    orders(criteria = {}, { sort, fields, limit = 100 } = {}) {
      const query = {
        ...queryFilters({ ...criteria }),
        ...(sort && { sort: sort.map(({ field, direction }) => `${field}:${direction}`).join(',') }),
        ...(fields && { fields: fields.join(',') }),
        limit,
      };
      return pages(async (cursor) => {
        const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
        return taken(await call.GET('/v1/orders', { params })) as Page<Order>;
      });
    },
  };
}

/** Milliseconds between two looks at an import. */
const progressEvery = 500;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly pagination: { readonly nextCursor?: string };
}

async function* pages<Item>(read: (cursor: string | undefined) => Promise<Page<Item>>): AsyncGenerator<Item, void> {
  let cursor: string | undefined;
  do {
    const { items, pagination } = await read(cursor);
    yield* items;
    cursor = pagination.nextCursor;
  } while (cursor !== undefined);
}

/** Sends a request with the session's access token. After a 401, repeats it once with a new token, if there is one. */
async function sendAs(
  session: Session | undefined,
  request: Request,
  send: (request: Request) => Promise<Response>,
): Promise<Response> {
  // Log-in and log-out need no token. The path is compared without the base path of the shop's address.
  const own = request.headers.has('authorization') || /\/v1\/tokens(\/revoke)?$/.test(request.url);
  if (session === undefined || own) return send(request);
  const token = await unlessAborted(session.accessToken(), request.signal);
  if (token === undefined) return send(request);
  const again = request.clone();
  request.headers.set('Authorization', `Bearer ${token}`);
  const response = await send(request);
  if (response.status !== 401) return response;
  const renewed = await unlessAborted(session.renew(token), request.signal);
  if (renewed === undefined || renewed === token) return response;
  await response.body?.cancel();
  again.headers.set('Authorization', `Bearer ${renewed}`);
  return send(again);
}

function taken<Data>({ data, error, response }: { data?: Data; error?: unknown; response: Response }): Data {
  if (data === undefined) throw new Refusal(response, error);
  return data;
}
