// The client: typed calls that log in and are repeated where that is safe, and lists as one sequence.
import { type Calls, createCalls, type Data, type InitOf, type PathWith } from './call.ts';
import { type Cart, type CartOptions, createCart } from './cart.ts';
import { connectionError } from './connection-error.ts';
import { type components, endpoints, type paths } from './contract.ts';
import { createOperations } from './create-operations.ts';
import {
  type ChangePage,
  type ChangesOptions,
  changesAfter,
  type Followed,
  type FollowedState,
  type FollowOptions,
  follow,
} from './follow.ts';
import { type ImportOptions, importProducts, type ProductImport, type ProductLine } from './import-products.ts';
import type { Operations } from './operations.ts';
import { createWaitFor, type Orders } from './orders.ts';
import { type Page, pagesOf } from './pages.ts';
import { type RepeatingSend, repeating, type Send } from './repeat.ts';
import { isPair, type MachineCredentials, machineLogIn, Session, type Tokens } from './session.ts';
import { dataOf, isShopError, isTemporaryFailure, ShopError } from './shop-error.ts';
import { unlessAborted } from './unless-aborted.ts';

export type Account = components['schemas']['Account'];

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
  /** How `shop.cart` is kept. */
  readonly cart?: CartOptions;
  /** Sends requests instead of `fetch`. The options have the signal that aborts the request, if there is one. */
  readonly fetch?: (request: Request, init?: RequestInit) => Promise<Response>;
}

/** The paths of GET operations that return a page of a list. */
export type ListPath = {
  [Path in PathWith<'get'>]: Data<paths[Path]['get']> extends Page<unknown> ? Path : never;
}[PathWith<'get'>];

export interface Shop extends Omit<Operations, 'changes' | 'importProducts' | 'logIn' | 'logOut' | 'orders'> {
  /** Every operation with its whole response: `shop.call.GET('/v1/products/{productId}', …)` → `{ data, error, response }`. */
  readonly call: Calls;
  /**
   * Logs in a customer or staff, or a machine. All further requests are theirs. Tokens continue a log-in without a
   * request, such as that of another tab of the browser.
   * @throws ShopError of `issueToken` when the credentials are wrong
   */
  logIn(
    credentials: { readonly email: string; readonly password: string } | MachineCredentials | Tokens,
  ): Promise<void>;
  /**
   * Forgets the tokens, and revokes the refresh token. After a failure, another call tries to revoke it again.
   * @throws ShopError when the shop did not revoke it
   */
  logOut(): Promise<void>;
  /**
   * Returns the account that is logged in.
   * @throws ShopError of `getAccount`
   */
  me(): Promise<Account>;
  /**
   * Imports products, up to 10 MiB as JSON lines, and waits until the import has finished. Lines with faults are in
   * `refusedLines`.
   * @throws ShopError
   */
  importProducts(products: Iterable<ProductLine>, options?: ImportOptions): Promise<ProductImport>;
  readonly orders: Orders;
  /**
   * What the customer wants to order: kept in the browser, merged over its tabs, with its price after each change, and
   * ordered once.
   */
  readonly cart: Cart;
  /**
   * Iterates over the pages of changes that the caller sees, and waits for further ones. To continue later, store
   * `nextCursor` after the items are handled.
   * @throws ShopError, such as `cursor-expired`; the reason of the signal
   * @example
   * for await (const { items, nextCursor } of shop.changes({ types: ['order'], cursor })) await handle(items, nextCursor);
   */
  readonly changes: ((options?: ChangesOptions) => AsyncGenerator<ChangePage, void>) & Operations['changes'];
  /**
   * Yields the state of each product, order or return, and then its new state after each change.
   * @throws ShopError; the reason of the signal
   * @example
   * for await (const { id, value } of shop.follow('products')) value ? copy.set(id, value) : copy.delete(id);
   */
  follow<Kind extends keyof Followed>(
    kind: Kind,
    options?: FollowOptions,
  ): AsyncGenerator<FollowedState<Followed[Kind]>, void>;
  /**
   * Iterates over the pages of the list at a path. Each page is requested after the one before it was read.
   * @throws ShopError
   * @example
   * for await (const { items } of shop.pages('/v1/brands')) show(items);
   */
  pages<Path extends ListPath>(
    path: Path,
    ...init: InitOf<paths[Path]['get']>
  ): AsyncGenerator<Data<paths[Path]['get']>, void>;
}

/** Adds the address and the reason to the error of a request that got no response. */
function explaining(send: NonNullable<ShopOptions['fetch']>): Send {
  return async (request, signal) => {
    try {
      if (signal === undefined) return await send(request);
      // `fetch` resets the referrer of a request when it gets further options.
      const { referrer, referrerPolicy } = request;
      return await unlessAborted(send(request, { signal, referrer, referrerPolicy }), signal);
    } catch (error) {
      // `instanceof` would not recognize the TypeError of another realm, as in a test environment.
      const isOfFetch = (error as Error).name === 'TypeError' && signal?.aborted !== true;
      throw isOfFetch ? connectionError(request, error as Error) : error;
    }
  };
}

/** The longest time of one attempt to renew tokens, in milliseconds. Every request of the session waits for it. */
const renewalTimeout = 10_000;

/** Creates a client of the shop at `baseUrl`. It sends nothing before the first call. */
export function createShop(options: ShopOptions): Shop {
  const { attempts = 4, longestWait = 30_000, onTokens = () => {} } = options;
  const baseUrl = options.baseUrl.replace(/\/$/, '');
  const fetchOnce = explaining(options.fetch ?? ((request, init) => fetch(request, init)));
  const fetchInTime: Send = (request) => fetchOnce(request, AbortSignal.timeout(renewalTimeout));
  const send = repeating(fetchOnce, { attempts, longestWait });
  const renew = repeating(fetchInTime, { attempts, longestWait });
  let session: Session | undefined;
  let toRevoke: string | undefined;
  const begin = (tokens: components['schemas']['Tokens'], machine?: MachineCredentials): void => {
    session?.end();
    session = new Session(tokens, { baseUrl, send: renew, machine, onTokens });
    if (isPair(tokens)) onTokens(tokens);
  };
  if (options.tokens !== undefined) begin(options.tokens);

  const call = createCalls(baseUrl, (request, signal) => sendAs(session, request, signal, send));
  const isTemporary = (error: unknown): boolean =>
    isTemporaryFailure(error) || (isShopError(error) && error.status === 401 && session?.isRenewalOverdue === true);
  const operations = createOperations(call);
  let cart: Cart | undefined;
  return {
    ...operations,
    call,
    get cart() {
      cart ??= createCart(operations, options.cart);
      return cart;
    },
    orders: Object.assign(operations.orders, { waitFor: createWaitFor(call, isTemporary) }),
    me: () => operations.accounts.get('me'),
    async logIn(credentials) {
      if ('access_token' in credentials) return begin(credentials);
      const machine = 'client_id' in credentials ? credentials : undefined;
      const body = 'client_id' in credentials ? machineLogIn(credentials) : credentials;
      begin(dataOf('issueToken', await call.POST('/v1/tokens', { body })), machine);
    },
    async logOut() {
      const token = session?.end()?.refresh_token ?? toRevoke;
      onTokens(undefined);
      if (token === undefined) return;
      toRevoke = token;
      const { error, response } = await call.POST('/v1/tokens/revoke', { body: { refresh_token: token } });
      // Another server, such as a proxy that asks for a log-in, may have returned 200.
      if (response.status !== 204) throw new ShopError('revokeToken', response, error);
      if (toRevoke === token) toRevoke = undefined;
    },
    importProducts: (products, options) => importProducts(call, isTemporary, products, options),
    changes: Object.assign(
      (options: ChangesOptions = {}) => changesAfter(call, isTemporary, options),
      operations.changes,
    ),
    follow: (kind, options = {}) => follow({ call, operations, isTemporary }, kind, options),
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
 * Sends a request with the session's access token. When the token is rejected, or ignored by a public operation (a
 * response with `error="invalid_token"`), retries once with a new token, if one exists. After the end of the session,
 * no request is sent again.
 */
async function sendAs(
  session: Session | undefined,
  request: Request,
  signal: AbortSignal | undefined,
  send: RepeatingSend,
): Promise<Response> {
  // Log-in and log-out need no token. The path is compared without the base path of the shop's address.
  const own = request.headers.has('authorization') || /\/v1\/tokens(\/revoke)?$/.test(request.url);
  if (session === undefined || own) return send(request, signal);
  const token = await unlessAborted(session.accessToken(), signal);
  if (token === undefined) return send(request, signal);
  const mayRepeat = (): boolean => !session.ended;
  const again = request.clone();
  request.headers.set('Authorization', `Bearer ${token}`);
  const response = await send(request, signal, mayRepeat);
  if (!isTokenRefused(response)) return response;
  const renewed = await unlessAborted(session.renew(token), signal);
  if (renewed === undefined || renewed === token) return response;
  again.headers.set('Authorization', `Bearer ${renewed}`);
  return send(again, signal, mayRepeat);
}

function isTokenRefused({ status, headers }: Response): boolean {
  return status === 401 || headers.get('www-authenticate')?.includes('error="invalid_token"') === true;
}
