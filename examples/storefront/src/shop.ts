// The client of the shop, and the session of the customer. The tokens are in memory. A new tab gets them from another
// tab, and a page that is loaded again from itself.
import { createShop, type Tokens } from '@shop/client';

const key = 'storefront session';
const channel = new BroadcastChannel(key);
const listeners = new Set<() => void>();
let tokens = takeOver();

/** The address of the shop. On another host, the page names it. */
const address = document.querySelector<HTMLMetaElement>('meta[name="shop"]')?.content ?? location.origin;

export const shop = createShop({
  baseUrl: address,
  ...(tokens && { tokens }),
  onTokens(next) {
    const isNews = next?.refresh_token !== tokens?.refresh_token;
    tokens = next;
    if (isNews) channel.postMessage({ tokens });
    for (const listener of listeners) listener();
  },
});

/** Resolves when the cart was read from the storage of the browser. */
export const cartRead = new Promise<void>((resolve) => void shop.cart.subscribe(() => resolve()));

export function isLoggedIn(): boolean {
  return tokens !== undefined;
}

/** Calls the listener after each log-in and log-out. */
export function onSession(listener: () => void): void {
  listeners.add(listener);
}

/** Returns the tokens that this tab had before its page was loaded again. */
function takeOver(): Tokens | undefined {
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return text === null ? undefined : (JSON.parse(text) as Tokens);
}

/** What tabs send to each other: their tokens after each log-in, renewal and log-out, or a question for them. */
interface Message {
  readonly tokens?: Tokens;
  readonly isQuestion?: boolean;
}

/** Resolves when another tab has sent its tokens, or is not there to send them. */
export const sessionRead = new Promise<void>((resolve) => {
  channel.onmessage = async ({ data }: MessageEvent<Message>) => {
    if (data.isQuestion === true) {
      if (tokens !== undefined) channel.postMessage({ tokens });
    } else if (data.tokens?.refresh_token !== tokens?.refresh_token) {
      await (data.tokens === undefined ? shop.logOut() : shop.logIn(data.tokens)).catch(() => {});
    }
    resolve();
  };
  if (tokens !== undefined) return resolve();
  channel.postMessage({ isQuestion: true });
  setTimeout(resolve, 200);
});

addEventListener('pagehide', () => {
  if (tokens !== undefined) sessionStorage.setItem(key, JSON.stringify(tokens));
});
addEventListener('pageshow', () => sessionStorage.removeItem(key));
