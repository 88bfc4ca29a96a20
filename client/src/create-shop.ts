// The client: typed calls that log in and are repeated where that is safe, and collections as one sequence.
import { type Calls, createCalls, type Data, type InitOf, type PathWith } from './call.ts';
import { type components, endpoints, type operations, type paths } from './contract.ts';
import { type ProductCriteria, searchFilters } from './criteria.ts';
import { type ImportOptions, importProducts, type ProductImport, type ProductLine } from './import-products.ts';
import type { ListOptions } from './list-options.ts';
import { createOrders, type Orders } from './orders.ts';
import { itemsOf, type Page, pagesOf } from './pages.ts';
import { type RepeatingSend, repeating } from './repeat.ts';
import { Session, type Tokens } from './session.ts';
import { dataOf, isShopError, isTemporaryFailure, ShopError } from './shop-error.ts';
import { unlessAborted } from './unless-aborted.ts';

export type Product = components['schemas']['Product'];

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

/** The paths whose GET returns a page of a list. */
export type ListPath = {
  [Path in PathWith<'get'>]: Data<paths[Path]['get']> extends Page<unknown> ? Path : never;
}[PathWith<'get'>];

export interface Shop {
  /** Every operation, typed: `shop.call.GET('/v1/products/{productId}', …)` → `{ data, error, response }`. */
  readonly call: Calls;
  /** @throws ShopError of `issueToken` when the credentials are wrong */
  logIn(credentials: { readonly email: string; readonly password: string }): Promise<void>;
  /**
   * Forgets the tokens, and revokes the refresh token. After a failure, another call tries to revoke it again.
   * @throws ShopError when the shop did not revoke it
   */
  logOut(): Promise<void>;
  /**
   * All products that meet the criteria. Further pages are requested as the items are read.
   * @throws ShopError of `searchProducts`; TypeError for an empty list
   */
  products<Field extends keyof Product = keyof Product>(
    criteria?: ProductCriteria,
    options?: ListOptions<Field, 'createdAt' | 'updatedAt' | 'name' | 'price' | 'rating' | 'id'>,
  ): AsyncGenerator<Pick<Product, Field>, void>;
  /**
   * Imports products, up to 10 MiB as JSON lines, and waits until the import has ended. Lines with faults are in
   * `refusedLines`.
   * @throws ShopError
   */
  importProducts(products: Iterable<ProductLine>, options?: ImportOptions): Promise<ProductImport>;
  readonly orders: Orders;
  /**
   * Iterates over the pages of any list. Each page is requested after the one before it was read.
   * @throws ShopError
   * @example
   * for await (const { items } of shop.pages('/v1/brands')) show(items);
   */
  pages<Path extends ListPath>(
    path: Path,
    ...init: InitOf<paths[Path]['get']>
  ): AsyncGenerator<Data<paths[Path]['get']>, void>;
}

/** The longest time of one attempt to renew tokens, in milliseconds. Every request of the session waits for it. */
const renewalTimeout = 10_000;

/** Creates a client of the shop at `baseUrl`. It sends nothing before the first call. */
export function createShop(options: ShopOptions): Shop {
  const { attempts = 4, longestWait = 30_000, onTokens = () => {} } = options;
  const baseUrl = options.baseUrl.replace(/\/$/, '');
  const fetchOnce = options.fetch ?? ((request) => fetch(request));
  const fetchInTime = (request: Request) =>
    fetchOnce(new Request(request, { signal: AbortSignal.timeout(renewalTimeout) }));
  const send = repeating(fetchOnce, { attempts, longestWait });
  const renew = repeating(fetchInTime, { attempts, longestWait });
  let session: Session | undefined;
  let toRevoke: string | undefined;
  const begin = (tokens: Tokens): void => {
    session?.end();
    session = new Session(tokens, { baseUrl, send: renew, onTokens });
    onTokens(tokens);
  };
  if (options.tokens !== undefined) begin(options.tokens);

  const call = createCalls(baseUrl, (request) => sendAs(session, request, send));
  const isTemporary = (error: unknown): boolean =>
    isTemporaryFailure(error) || (isShopError(error) && error.status === 401 && session?.isRenewalOverdue === true);
  return {
    call,
    orders: createOrders(call, isTemporary),
    async logIn(credentials) {
      // A machine's tokens, and no others, lack a refresh token.
      begin(dataOf('issueToken', await call.POST('/v1/tokens', { body: credentials })) as Tokens);
    },
    async logOut() {
      const token = session?.end()?.refresh_token ?? toRevoke;
      onTokens(undefined);
      if (token === undefined) return;
      toRevoke = token;
      const { error, response } = await call.POST('/v1/tokens/revoke', { body: { refresh_token: token } });
      // Another server, such as a proxy that asks for a log-in, may have answered with 200.
      if (response.status !== 204) throw new ShopError('revokeToken', response, error);
      if (toRevoke === token) toRevoke = undefined;
    },
    products(criteria = {}, { sort, fields, limit = 100 } = {}) {
      const search = {
        filters: searchFilters(criteria),
        ...(sort && { sort: [...sort] }),
        ...(fields && { fields: [...fields] }),
      };
      const pages = pagesOf(async (cursor): Promise<Data<operations['searchProducts']>> => {
        const pagination = { limit, ...(cursor !== undefined && { cursor }) };
        return dataOf('searchProducts', await call.POST('/v1/products/search', { body: { ...search, pagination } }));
      });
      return itemsOf(pages as AsyncIterable<Page<Product>>);
    },
    importProducts: (products, options) => importProducts(call, isTemporary, products, options),
    pages: (path, ...init) => pagesIn(call, path, ...init),
  };
}

function pagesIn<Path extends ListPath>(call: Calls, path: Path, ...[init]: InitOf<paths[Path]['get']>) {
  type Listed = Data<paths[Path]['get']>;
  // The types of a path that is only known at run time cannot be computed.
  const get = call.GET as (path: string, init: object) => ReturnType<typeof call.GET>;
  const { params, ...rest } = (init ?? {}) as { params?: { query?: object } };
  const read = async (cursor: string | undefined): Promise<Page<unknown>> => {
    const query = { ...params?.query, ...(cursor !== undefined && { cursor }) };
    const answer = await get(path, { ...rest, params: { ...params, query } });
    return dataOf(endpoints[`GET ${path}`]?.id ?? 'listProducts', answer) as Page<unknown>;
  };
  return pagesOf(read) as AsyncGenerator<Listed, void>;
}

/**
 * Sends a request with the session's access token. When the token is refused, or ignored because the operation is
 * public (a response with `error="invalid_token"`), sends the request once more with a new token, if there is one. After
 * the end of the session, nothing is sent again.
 */
async function sendAs(session: Session | undefined, request: Request, send: RepeatingSend): Promise<Response> {
  // Log-in and log-out need no token. The path is compared without the base path of the shop's address.
  const own = request.headers.has('authorization') || /\/v1\/tokens(\/revoke)?$/.test(request.url);
  if (session === undefined || own) return send(request);
  const token = await unlessAborted(session.accessToken(), request.signal);
  if (token === undefined) return send(request);
  const mayRepeat = (): boolean => !session.ended;
  const again = request.clone();
  request.headers.set('Authorization', `Bearer ${token}`);
  const response = await send(request, mayRepeat);
  if (!isTokenRefused(response)) return response;
  const renewed = await unlessAborted(session.renew(token), request.signal);
  if (renewed === undefined || renewed === token) return response;
  again.headers.set('Authorization', `Bearer ${renewed}`);
  return send(again, mayRepeat);
}

function isTokenRefused({ status, headers }: Response): boolean {
  return status === 401 || headers.get('www-authenticate')?.includes('error="invalid_token"') === true;
}
