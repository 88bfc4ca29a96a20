// Pages of customers who are logged in. Others come to the log-in first, and then back.
import { isShopError } from '@shop/client';
import { navigate, type Page, refresh } from './router.ts';
import { isLoggedIn, onSession, sessionRead } from './shop.ts';

/** Returns the page, which leads to the log-in when nobody is logged in. */
export function forCustomers(page: Page): Page {
  return async (address) => {
    await sessionRead;
    if (isLoggedIn()) {
      // The session may end in another tab, or because it is too old.
      const end = onSession(() => isLoggedIn() || refresh());
      address.signal.addEventListener('abort', end);
      try {
        return await page(address);
      } catch (error) {
        if (!isShopError(error) || error.status !== 401) throw error;
      }
    }
    navigate(withReturn('/log-in', location.pathname + location.search), { replace: true });
    // The page of the log-in is shown instead.
    return new Promise(() => {});
  };
}

/** Returns an address that leads back to another one afterwards. */
export function withReturn(address: string, next: string): string {
  return `${address}?${new URLSearchParams({ next })}`;
}

/** Returns the address to which a page leads back. An address on another host is ignored. */
export function returnAddress(query: URLSearchParams): string {
  const next = query.get('next') ?? '/';
  return URL.parse(next, location.origin)?.origin === location.origin ? next : '/';
}
