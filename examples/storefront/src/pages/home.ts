// The start page: categories, new products, and those with good ratings. The text is there at once, the rest follows.
import { categoryLink, mainCategories } from '../categories.ts';
import { type Child, h } from '../dom.ts';
import { categoryPicture } from '../pictures.ts';
import { type Listed, listFields, productList, productsLoading } from '../product-list.ts';
import { type Address, refresh, type View } from '../router.ts';
import { shop } from '../shop.ts';
import { later, refusedView } from '../states.ts';
import { t } from '../texts.ts';

export async function homePage({ signal }: Address): Promise<View> {
  // One product stands for all versions of itself.
  const newest = shop.products.page(
    { lead: true },
    { limit: 8, fields: listFields, sort: [{ field: 'createdAt', direction: 'desc' }], signal },
  );
  const best = shop.products.page(
    { lead: true, inStock: true, rating: { gte: 4 } },
    { limit: 4, fields: listFields, sort: [{ field: 'rating', direction: 'desc' }], signal },
  );
  const content: HTMLElement = h('div', { class: 'home' }, [
    h('section', { class: 'hero' }, [
      h('h1', {}, t.welcome),
      h('p', { class: 'lead' }, t.welcomeText),
      h('a', { class: 'button primary', href: '/search' }, t.allProducts),
    ]),
    h('div', { class: 'page' }, [
      h('h2', { class: 'unseen' }, t.sections),
      later(mainCategories(), categoriesLoading(), categories),
      later(
        newest,
        productsLoading(8),
        ({ items }) => products(t.newProducts, items),
        // Back may show this page again later, so it is in the document only at times.
        (error) => refusedView(error, () => content.isConnected && refresh(), signal).content,
      ),
      later(best, productsLoading(4), ({ items }) => products(t.likedProducts, items)),
    ]),
  ]);
  return { title: '', content, keep: true };
}

function categories(names: readonly string[]): HTMLElement {
  const cards = names.map((name) => h('li', {}, categoryLink(name, categoryPicture(name, true))));
  return h('ul', { class: 'categories' }, cards);
}

function categoriesLoading(): HTMLElement {
  const blocks = Array.from({ length: 6 }, () => h('div', {}, h('div', { class: 'picture' }), h('span', {}, '\u00a0')));
  return h('div', { class: 'categories', 'aria-hidden': 'true' }, blocks);
}

function products(title: string, items: readonly Listed[]): Child {
  return items.length > 0 && h('section', {}, h('h2', {}, title), productList(items));
}
