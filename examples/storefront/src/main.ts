// The storefront: its addresses, and the page of each one.

import { customerRoutes } from './customer-routes.ts';
import { h } from './dom.ts';
import { frame } from './frame.ts';
import { cartPage } from './pages/cart.ts';
import { homePage } from './pages/home.ts';
import { categoryPage, searchPage } from './pages/listing.ts';
import { productPage } from './pages/product.ts';
import { applyPreferences } from './preferences.ts';
import { productsLoading } from './product-list.ts';
import { type Route, refresh, startRouter } from './router.ts';
import { skeleton } from './states.ts';

const list = () => skeleton('title', productsLoading(8));

const routes: readonly Route[] = [
  { path: /^\/$/, page: homePage, loading: () => skeleton('hero', 'block') },
  { path: /^\/c\/([^/]+)$/, page: categoryPage, loading: list },
  { path: /^\/search$/, page: searchPage, loading: list },
  { path: /^\/p\/([^/]+)$/, page: productPage, loading: () => skeleton('line', 'half', 'half') },
  { path: /^\/cart$/, page: cartPage, loading: () => skeleton('title', 'block') },
  ...customerRoutes,
];

const main = h('main', { id: 'content', tabindex: -1 });

function showFrame(): void {
  const elements = frame(main, () => {
    showFrame();
    refresh();
  });
  document.body.replaceChildren(...elements);
}

applyPreferences();
showFrame();
startRouter(routes, main);
