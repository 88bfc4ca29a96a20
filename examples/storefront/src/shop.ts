// The client of the shop, and the session of the customer. The tokens are in memory. A tab that is opened or loaded again
// gets them from another tab, and without one those that it had before.
import { createShop, type Tokens } from '@shop/client';

const key = 'storefront session';
const channel = new BroadcastChannel(key);
const listeners = new Set<() => void>();
let tokens: Tokens | undefined;
/** The tokens that this tab had before its page was loaded again. Another tab may have renewed them meanwhile. */
let kept = takeOver();

/** The address of the shop. On another host, the page names it. */
const address = document.querySelector<HTMLMetaElement>('meta[name="shop"]')?.content ?? location.origin;

export const shop = createShop({
  baseUrl: address,
  onTokens(next) {
    const former = tokens?.refresh_token;
    tokens = next;
    if (next?.refresh_token !== former) send(next === undefined ? { ended: former } : { tokens: next });
    for (const listener of listeners) listener();
  },
});

/** Resolves when the cart was read from the storage of the browser. */
export const cartRead = new Promise<void>((resolve) => void shop.cart.subscribe(() => resolve()));

export function isLoggedIn(): boolean {
  return tokens !== undefined;
}

/** Calls the listener after each log-in, renewal and log-out. Returns a function that ends this. */
export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** What tabs send to each other: their tokens, the refresh token of a session that has ended, or a question for tokens. */
type Message = { readonly tokens: Tokens } | { readonly ended: string | undefined } | { readonly isQuestion: true };

function send(message: Message): void {
  channel.postMessage(message);
}

/** Continues a session. What is in `tokens` already is not sent to the other tabs. */
function continueWith(next: Tokens): void {
  if (next.refresh_token === tokens?.refresh_token) return;
  tokens = next;
  void shop.logIn(next);
}

/** Resolves when another tab has sent its tokens, or is not there to send them. */
export const sessionRead = new Promise<void>((resolve) => {
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ('isQuestion' in data) {
      if (tokens !== undefined) send({ tokens });
    } else if ('tokens' in data) {
      continueWith(data.tokens);
      kept = undefined;
      resolve();
    } else if (tokens !== undefined && data.ended === tokens.refresh_token) {
      tokens = undefined;
      shop.logOut().catch(() => {});
    }
  };
  send({ isQuestion: true });
  // The cart asks for its price after this time, so that it is the price of the customer.
  setTimeout(() => {
    if (tokens === undefined && kept !== undefined) continueWith(kept);
    kept = undefined;
    resolve();
  }, 200);
});

addEventListener('pagehide', () => {
  const last = tokens ?? kept;
  if (last !== undefined) tabStorage()?.setItem(key, JSON.stringify(last));
});
addEventListener('pageshow', () => tabStorage()?.removeItem(key));

function takeOver(): Tokens | undefined {
  const text = tabStorage()?.getItem(key) ?? undefined;
  return text === undefined ? undefined : (JSON.parse(text) as Tokens);
}

/** Returns the storage of this tab; undefined when the browser keeps no data for this page. */
function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}
