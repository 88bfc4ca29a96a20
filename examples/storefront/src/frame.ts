// What surrounds every page: the bar of the demo, the header, and the footer.
import { categoryLink, mainCategories } from './categories.ts';
import { h, icon } from './dom.ts';
import { chooseLanguage, chooseTheme, shownTheme } from './preferences.ts';
import { navigate } from './router.ts';
import { isLoggedIn, onSession, shop } from './shop.ts';
import { later } from './states.ts';
import { t } from './texts.ts';

const icons = {
  search: 'm20 20-4.500-4.500M17.500 10.500a7 7 0 1 1-14 0 7 7 0 0 1 14 0Z',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.500 8a7.500 7.500 0 0 1 15 0',
  cart: 'M5.500 8h13l1 11.500h-15zM8.500 10.500V7a3.500 3.500 0 0 1 7 0v3.500',
  theme: 'M12 3.500a8.500 8.500 0 1 0 0 17zm0 0a8.500 8.500 0 0 1 0 17',
};

/** Ends what the elements of the former language listen to. */
const subscriptions: (() => void)[] = [];

/**
 * Returns the elements around `main`.
 * @param onLanguage called after another language was chosen
 */
export function frame(main: HTMLElement, onLanguage: () => void): HTMLElement[] {
  for (const end of subscriptions.splice(0)) end();
  const skip = (event: Event): void => {
    event.preventDefault();
    main.focus();
  };
  const link = h('a', { class: 'skip', href: '#content', onclick: skip }, t.skip);
  return [link, ...demoBar(), header(onLanguage), main, footer()];
}

/** The gateway of `npm start` names its other pages in the page. On another host there is no bar. */
function demoBar(): HTMLElement[] {
  const pages = document.querySelector<HTMLMetaElement>('meta[name="demo"]')?.content.split(' ');
  if (pages === undefined) return [];
  const links = pages.map((page) => h('a', { href: `/${page}` }, t.demoLinks[page] ?? page));
  return [h('aside', { class: 'demo', 'aria-label': t.demoTitle }, h('span', {}, t.demo), links)];
}

function header(onLanguage: () => void): HTMLElement {
  return h('header', { class: 'top' }, [
    h('a', { class: 'logo', href: '/' }, logo(), t.shopName),
    searchForm(),
    h('nav', { class: 'own', 'aria-label': t.account }, [
      languageButton(onLanguage),
      themeButton(),
      accountLink(),
      cartLink(),
    ]),
    h('nav', { class: 'sections', 'aria-label': t.sections }, [
      later(mainCategories(), h('span', {}, '\u00a0'), (names) => names.map((name) => categoryLink(name))),
    ]),
  ]);
}

function logo(): HTMLElement {
  const { href = '' } = document.querySelector<HTMLLinkElement>('link[rel="icon"]') ?? {};
  return h('img', { src: href, alt: '', width: 28, height: 28 });
}

function searchForm(): HTMLElement {
  const input = h('input', {
    type: 'search',
    name: 'q',
    'aria-label': t.searchProducts,
    placeholder: t.searchProducts,
    value: new URLSearchParams(location.search).get('q') ?? '',
    autocomplete: 'off',
    enterkeyhint: 'search',
    maxlength: 200,
  });
  const search = (event: Event): void => {
    event.preventDefault();
    if (input.value.trim() !== '') navigate(`/search?${new URLSearchParams({ q: input.value.trim() })}`);
  };
  const button = h('button', { type: 'submit', class: 'plain', 'aria-label': t.search }, icon(icons.search));
  return h('form', { role: 'search', class: 'search', onsubmit: search }, input, button);
}

function languageButton(onLanguage: () => void): HTMLElement {
  const other = t.language === 'en' ? 'de' : 'en';
  const change = (): void => {
    chooseLanguage(other);
    onLanguage();
  };
  return h('button', { type: 'button', class: 'plain', lang: other, onclick: change }, t.otherLanguage);
}

function themeButton(): HTMLElement {
  const button = h('button', { type: 'button', class: 'plain' }, icon(icons.theme));
  const name = (): void => {
    const label = shownTheme() === 'dark' ? t.toLight : t.toDark;
    button.title = label;
    button.setAttribute('aria-label', label);
  };
  button.addEventListener('click', () => {
    chooseTheme(shownTheme() === 'dark' ? 'light' : 'dark');
    name();
  });
  name();
  return button;
}

function accountLink(): HTMLElement {
  const label = h('span');
  const link = h('a', { class: 'button plain' }, icon(icons.account), label);
  const update = (): void => {
    link.href = isLoggedIn() ? '/account' : '/log-in';
    label.textContent = isLoggedIn() ? t.account : t.logIn;
  };
  subscriptions.push(onSession(update));
  update();
  return link;
}

function cartLink(): HTMLElement {
  const count = h('span', { class: 'count', hidden: true });
  const link = h(
    'a',
    { class: 'button plain cart', href: '/cart' },
    icon(icons.cart),
    h('span', {}, t.cart),
    ' ',
    count,
  );
  const update = (): void => {
    const units = shop.cart.state.items.reduce((sum, { quantity }) => sum + quantity, 0);
    count.textContent = String(units);
    count.hidden = units === 0;
    link.setAttribute('aria-label', t.cartCount(units));
  };
  subscriptions.push(shop.cart.subscribe(update));
  update();
  return link;
}

function footer(): HTMLElement {
  const links = [
    ['/search', t.allProducts],
    ['/cart', t.cart],
    ['/orders', t.orders],
    ['/account', t.account],
  ] as const;
  return h('footer', { class: 'bottom' }, [
    h('strong', {}, t.shopName),
    h(
      'nav',
      { 'aria-label': t.shopName },
      links.map(([address, text]) => h('a', { href: address }, text)),
    ),
    h('p', {}, t.about),
  ]);
}
