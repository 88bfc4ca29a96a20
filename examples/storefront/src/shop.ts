// The client of the shop, and the session of the customer. The tokens are in memory. A reload of the page and the other
// tabs of the browser take them over; nothing else stores them.
import { createShop, type Tokens } from '@shop/client';

const key = 'storefront session';
const listeners = new Set<() => void>();
let tokens = takeOver();

/** The storefront and the shop have one address. A storefront on another host names the address of the shop here. */
export const shop = createShop({
  baseUrl: location.origin,
  ...(tokens && { tokens }),
  onTokens(next) {
    tokens = next;
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

addEventListener('pagehide', () => {
  if (tokens !== undefined) sessionStorage.setItem(key, JSON.stringify(tokens));
});
addEventListener('pageshow', () => sessionStorage.removeItem(key));
