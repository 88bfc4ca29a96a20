// The storefront: its addresses, and the page of each one.

import { h } from './dom.ts';
import { frame } from './frame.ts';
import { homePage } from './pages/home.ts';
import { applyPreferences } from './preferences.ts';
import { type Route, refresh, startRouter } from './router.ts';
import { skeleton } from './states.ts';

const plain = () => skeleton('block title', 'block wide');

const routes: readonly Route[] = [{ path: /^\/$/, page: homePage, loading: plain }];

const main = h('main', { id: 'content', tabindex: -1 });

function showFrame(): void {
  document.body.replaceChildren(
    ...frame(main, () => {
      showFrame();
      refresh();
    }),
  );
}

applyPreferences();
showFrame();
startRouter(routes, main);
