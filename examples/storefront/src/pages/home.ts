// The start page: categories, new products, and what others like.
import { h } from '../dom.ts';
import { categoryName } from '../names.ts';
import { categoryPicture } from '../pictures.ts';
import { listFields, productList, productsLoading } from '../product-list.ts';
import type { Address, View } from '../router.ts';
import { shop } from '../shop.ts';
import { later } from '../states.ts';
import { t } from '../texts.ts';

export async function homePage({ signal }: Address): Promise<View> {
  // One product stands for all versions of itself.
  const criteria = { lead: true };
  const sort = [{ field: 'createdAt', direction: 'desc' }] as const;
  const liked = shop.products.page(
    { ...criteria, inStock: true, rating: { gte: 4 } },
    { limit: 4, fields: listFields, sort: [{ field: 'rating', direction: 'desc' }], signal },
  );
  const found = await shop.products.page(criteria, {
    limit: 8,
    fields: listFields,
    sort,
    facets: ['category'],
    signal,
  });
  const categories = (found.facets?.category ?? []).slice(0, 6).map(({ value }) => value);
  return {
    title: '',
    keep: true,
    content: h('div', { class: 'page home' }, [
      h('section', { class: 'hero' }, [h('h1', {}, t.welcome), h('p', { class: 'lead' }, t.welcomeText)]),
      h('section', { 'aria-labelledby': 'categories' }, [
        h('h2', { id: 'categories', class: 'unseen' }, t.sections),
        h(
          'ul',
          { class: 'categories' },
          categories.map((name) => categoryCard(name)),
        ),
      ]),
      h('section', { 'aria-labelledby': 'new' }, [h('h2', { id: 'new' }, t.newProducts), productList(found.items)]),
      later(liked, productsLoading(4), ({ items }) => {
        if (items.length === 0) return undefined;
        return h('section', { 'aria-labelledby': 'liked' }, [
          h('h2', { id: 'liked' }, t.likedProducts),
          productList(items),
        ]);
      }),
    ]),
  };
}

function categoryCard(category: string): HTMLElement {
  const name = h('span', { dir: 'auto' }, categoryName(category));
  return h('li', {}, h('a', { href: `/c/${encodeURIComponent(category)}` }, categoryPicture(category, true), name));
}
