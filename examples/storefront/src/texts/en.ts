// The English texts. A text with values is a function. `de.ts` has the same keys.
export const en = {
  language: 'en',
  shopName: 'Shop',
  skip: 'To the content',
  demo: 'This is a demo of the shop service.',
  demoLinks: { docs: 'Documentation', board: 'Board', mail: 'E-mails', desk: 'Desk' } as Record<string, string>,
  sections: 'Categories',
  search: 'Search',
  searchProducts: 'Search products',
  logIn: 'Log in',
  account: 'Account',
  cart: 'Cart',
  cartCount: (count: number) => `Cart, ${count} ${count === 1 ? 'item' : 'items'}`,
  otherLanguage: 'Deutsch',
  toDark: 'Dark colours',
  toLight: 'Light colours',
  loading: 'Loading …',
  tryAgain: 'Try again',
  notFoundTitle: 'Nothing here',
  notFoundText: 'There is no page at this address, or the product is no longer sold.',
  toHome: 'To the start page',
  offlineTitle: 'No connection',
  offlineText: 'The shop cannot be reached. The page loads as soon as you are online again.',
  refusedTitle: 'That did not work',
  requestId: (id: string) => `Request ${id}`,
};

export type Texts = typeof en;
