// The cart of a browser: what a customer wants to order, with its price. The shop stores nothing of it.
import { randomKey } from './call.ts';
import { type CartStorage, openCartStorage } from './cart-storage.ts';
import type { components } from './contract.ts';
import type { Order } from './list.ts';
import type { Operations } from './operations.ts';
import { isShopError } from './shop-error.ts';

type NewOrder = components['schemas']['NewOrder'];
export type Quote = components['schemas']['Quote'];

/** What belongs to the order beside its items. */
export type CartTerms = Pick<NewOrder, 'shipping_address' | 'shippingMethodId' | 'discountCode'>;

export interface CartState {
  readonly items: readonly { readonly productId: string; readonly quantity: number }[];
  readonly terms: CartTerms;
  /** The price of the present contents; undefined for an empty cart, and until the shop has calculated it. */
  readonly quote: Quote | undefined;
  /** Why the price is missing; the next change calculates it again. */
  readonly error: unknown;
  /** Whether an order was sent whose response is missing. The cart cannot be changed until `order` or `forget` is called. */
  readonly isOrdering: boolean;
}

export interface CartOptions {
  /** Where the cart is kept. Default: the IndexedDB of the browser, or the memory where there is none. */
  readonly storage?: CartStorage;
  /** The name of the cart in the storage; default `shop.cart`. */
  readonly name?: string;
  /** Milliseconds after a change before the price is calculated; default 200. */
  readonly quoteAfter?: number;
}

export interface Cart {
  /** The state at present; of an empty cart until the storage was read. */
  readonly state: CartState;
  /** Calls the listener with each new state, of changes in other tabs, too. Returns a function that ends this. */
  subscribe(listener: (state: CartState) => void): () => void;
  /** @throws Error while an order of the cart has no response, or the storage fails; as all changes do */
  add(productId: string, quantity?: number): Promise<void>;
  /** Sets the quantity of a product; 0 removes it. */
  set(productId: string, quantity: number): Promise<void>;
  /** Sets the address, the shipping method or the discount code; `undefined` removes one. */
  choose(terms: { readonly [Name in keyof CartTerms]: CartTerms[Name] | undefined }): Promise<void>;
  clear(): Promise<void>;
  /**
   * Places the order at the shown price and empties the cart. However often it is called, in however many tabs, the
   * contents are ordered once.
   * @param accountId who orders. The order of another account whose response is missing is not sent again.
   * @throws ShopError of `createOrder`; the cart stays, and has a new price
   * @throws UnknownOutcomeError
   */
  order(options?: { readonly accountId?: string | undefined }): Promise<Order>;
  /** Forgets an order that was sent and whose response is missing. It may have been placed. The contents stay. */
  forget(): Promise<void>;
}

/** Thrown when an order has no response and is not sent again, because it is another account's, or would be a second one. */
export class UnknownOutcomeError extends Error {
  readonly sentAt: Date;
  readonly isOfOtherAccount: boolean;

  constructor(sentAt: Date, isOfOtherAccount: boolean) {
    super('The outcome of the order that was sent is unknown. Call forget() to change the cart.');
    this.name = 'UnknownOutcomeError';
    this.sentAt = sentAt;
    this.isOfOtherAccount = isOfOtherAccount;
  }
}

interface Contents {
  readonly items: CartState['items'];
  readonly terms: CartTerms;
}

/** What the storage has, as JSON. */
interface Stored extends Contents {
  /** The order that was sent and whose response is missing. */
  readonly sent?: Sent;
}

interface Sent {
  readonly key: string;
  readonly body: NewOrder;
  readonly at: number;
  readonly accountId?: string;
}

/** Milliseconds after which the shop may have forgotten a key: an hour less than the day of its contract. */
const keyLifetime = 23 * 60 * 60_000;
const empty: Stored = { items: [], terms: {} };

export function createCart(operations: Pick<Operations, 'orders' | 'quoteOrder'>, options: CartOptions = {}): Cart {
  const { name = 'shop.cart', storage = openCartStorage(name), quoteAfter = 200 } = options;
  const listeners = new Set<(state: CartState) => void>();
  let stored: Stored = empty;
  let priced: { readonly text: string; readonly quote?: Quote; readonly error?: unknown } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;

  const toState = ({ items, terms, sent }: Stored): CartState => {
    const current = priced?.text === toText({ items, terms }) ? priced : undefined;
    return { items, terms, quote: current?.quote, error: current?.error, isOrdering: sent !== undefined };
  };
  const tell = (): void => {
    for (const listener of listeners) listener(toState(stored));
  };

  /** Calculates the price of the present contents, unless they change meanwhile. */
  const quote = async (): Promise<void> => {
    clearTimeout(timer);
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const { items, terms } = stored;
    if (items.length === 0) return;
    const text = toText({ items, terms });
    try {
      const answer = await operations.quoteOrder({ items: [...items], ...terms }, { signal });
      priced = { text, quote: answer };
    } catch (error) {
      if (signal.aborted) return;
      priced = { text, error };
    }
    tell();
  };
  const store = async (change: (present: Stored) => Stored): Promise<Stored> => {
    const text = await storage.update((present) => JSON.stringify(change(parse(present))));
    const before = stored;
    stored = parse(text);
    const isUnlocked = before.sent !== undefined;
    if (stored.sent === undefined && (isUnlocked || toText(stored) !== toText(before))) {
      clearTimeout(timer);
      timer = setTimeout(() => void quote(), quoteAfter);
    }
    tell();
    return stored;
  };
  const changeContents = async (change: (contents: Contents) => Contents): Promise<void> => {
    await store((present) => {
      if (present.sent === undefined) return change(present);
      throw new Error('The cart is being ordered. Call order() to learn the outcome.');
    });
  };
  /** Forgets a sent order. Contents that were ordered are removed. */
  const settle = async (key: string, isPlaced: boolean): Promise<void> => {
    await store((present) => {
      if (present.sent?.key !== key) return present;
      const { sent: _, ...contents } = present;
      return isPlaced ? empty : contents;
    });
  };
  const reload = (): void => void store((present) => present).catch(() => {});
  storage.watch(reload);
  reload();

  return {
    get state() {
      return toState(stored);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    add: (productId, quantity = 1) =>
      changeContents((contents) => {
        const present = contents.items.find((item) => item.productId === productId)?.quantity ?? 0;
        return withQuantity(contents, productId, present + quantity);
      }),
    set: (productId, quantity) => changeContents((contents) => withQuantity(contents, productId, quantity)),
    choose: (terms) =>
      // JSON omits members that are undefined.
      changeContents(({ items, terms: present }) => ({ items, terms: { ...present, ...terms } as CartTerms })),
    clear: () => changeContents(() => empty),
    async order({ accountId } = {}) {
      let isRepeated = false;
      const { sent } = await store((present) => {
        isRepeated = present.sent !== undefined;
        if (present.sent !== undefined) assertRepeatable(present.sent, accountId);
        if (isRepeated || present.items.length === 0) return present;
        const { quote: shown } = toState(present);
        if (shown === undefined) throw new Error('The price of the cart is not known yet.');
        const { quote: sealed } = shown;
        const body = { items: [...present.items], ...present.terms, ...(sealed !== undefined && { quote: sealed }) };
        return { ...present, sent: { key: randomKey(), body, at: Date.now(), ...(accountId && { accountId }) } };
      });
      if (sent === undefined) throw new Error('The cart is empty.');
      try {
        const order = await operations.orders.place(sent.body, { idempotencyKey: sent.key });
        await settle(sent.key, true);
        return order;
      } catch (error) {
        // After any other error, the order may have been placed: by the former attempt, when the shop did not look at this one.
        const isUnread = isRepeated && isShopError(error) && (error.status === 401 || error.status === 429);
        if (isShopError(error) && error.status < 500 && error.code !== 'request-in-progress' && !isUnread) {
          await settle(sent.key, false);
          await quote();
        }
        throw error;
      }
    },
    forget: async () => void (await store(({ sent: _, ...contents }) => contents)),
  };
}

/** @throws UnknownOutcomeError when the order must not be sent again */
function assertRepeatable({ at, accountId: sender }: Sent, accountId: string | undefined): void {
  const isOfOtherAccount = sender !== accountId;
  if (isOfOtherAccount || Date.now() - at > keyLifetime) throw new UnknownOutcomeError(new Date(at), isOfOtherAccount);
}

function withQuantity({ items, terms }: Contents, productId: string, quantity: number): Contents {
  if (!Number.isInteger(quantity)) throw new Error(`The quantity ${quantity} is no whole number.`);
  const others = items.filter((item) => item.productId !== productId);
  if (quantity <= 0) return { items: others, terms };
  const isNew = others.length === items.length;
  const changed = items.map((item) => (item.productId === productId ? { productId, quantity } : item));
  return { items: isNew ? [...items, { productId, quantity }] : changed, terms };
}

function parse(text: string | undefined): Stored {
  return text === undefined ? empty : (JSON.parse(text) as Stored);
}

function toText({ items, terms }: Contents): string {
  return JSON.stringify([items, terms]);
}
