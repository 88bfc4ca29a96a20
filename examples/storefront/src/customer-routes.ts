// The pages of checkout, orders and account. Their modules are loaded at the first visit of one of them.
import { forCustomers } from './customers.ts';
import type { Page, Route } from './router.ts';
import { skeleton } from './states.ts';

const pages = () => import('./pages/customers.ts');
const one = () => skeleton('title', 'block');
const form = () => skeleton('block form');

const guest = (page: (all: Awaited<ReturnType<typeof pages>>) => Page): Page => {
  return async (address) => page(await pages())(address);
};
const customer = (page: (all: Awaited<ReturnType<typeof pages>>) => Page): Page => forCustomers(guest(page));

export const customerRoutes: readonly Route[] = [
  { path: /^\/checkout$/, page: guest((all) => all.checkoutPage), loading: one },
  { path: /^\/orders$/, page: customer((all) => all.ordersPage), loading: one },
  { path: /^\/orders\/([^/]+)$/, page: customer((all) => all.orderPage), loading: one },
  { path: /^\/account$/, page: customer((all) => all.accountPage), loading: one },
  { path: /^\/log-in$/, page: guest((all) => all.logInPage), loading: form },
  { path: /^\/register$/, page: guest((all) => all.registerPage), loading: form },
  { path: /^\/reset$/, page: guest((all) => all.resetPage), loading: form },
  { path: /^\/verify-email$/, page: guest((all) => all.verifyPage), loading: form },
  { path: /^\/undo-email-change$/, page: guest((all) => all.undoPage), loading: form },
];
