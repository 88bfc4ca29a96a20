// The products of a category or of a search. The filters are in the address, so that Back and a link keep them.
import { isShopError, type ProductCriteria } from '@shop/client';
import { h, replaceContent } from '../dom.ts';
import { type Facets, filterNames, filters, sortOf, sortSelect, withoutFilters } from '../filters.ts';
import { categoryName } from '../names.ts';
import { listFields, productCard, productList } from '../product-list.ts';
import type { Address, View } from '../router.ts';
import { shop } from '../shop.ts';
import { explain, notFoundView, notice } from '../states.ts';
import { t } from '../texts.ts';

const limit = 24;

export async function categoryPage(address: Address): Promise<View> {
  return listing(address, { category: address.id }, categoryName(address.id));
}

export async function searchPage(address: Address): Promise<View> {
  const q = address.query.get('q')?.trim() ?? '';
  const [category, ...others] = address.query.getAll('category');
  const all = category === undefined || others.length > 0 ? t.allProducts : categoryName(category);
  return listing(address, q === '' ? {} : { q: q.slice(0, 200) }, q === '' ? all : t.found(q));
}

async function listing({ path, query, signal }: Address, given: ProductCriteria, title: string): Promise<View> {
  const scope: ProductCriteria = { ...given, lead: true };
  const criteria: ProductCriteria = { ...criteriaOf(query), ...scope };
  const sort = sortOf(query);
  const options = { limit, fields: listFields, ...(sort && { sort: [sort] }), signal };
  const [found, offered] = await Promise.all([
    withFacets(['category'], (facets) => shop.products.page(criteria, { ...options, ...facets })),
    // The filters offer what there is without them.
    withFacets(['brand', 'category', 'price'], (facets) => {
      return shop.products.page(scope, { limit: 1, fields: ['id', 'currency'], ...facets, signal });
    }),
  ]);
  const all = offered.items[0];
  if (all === undefined && path !== '/search') return notFoundView();
  const list = productList(found.items, 4);
  const rest = h('div', { class: 'rest' });
  const showRest = ({ nextCursor: cursor }: { readonly nextCursor?: string }): void => {
    rest.replaceChildren();
    if (cursor === undefined) return;
    const more = async (): Promise<void> => {
      if (button.getAttribute('aria-disabled') === 'true') return;
      button.setAttribute('aria-disabled', 'true');
      try {
        const next = await shop.products.page(criteria, { ...options, cursor });
        const cards = next.items.map((product) => productCard(product));
        list.append(...cards);
        cards[0]?.querySelector('a')?.focus();
        showRest(next.pagination);
      } catch (error) {
        replaceContent(rest, notice('danger', explain(error)), button);
        button.removeAttribute('aria-disabled');
      }
    };
    const button = h('button', { type: 'button', id: 'more', onclick: () => void more() }, t.more);
    replaceContent(rest, button);
  };
  showRest(found.pagination);
  const content = h('div', { class: 'page listing' }, [
    h(
      'header',
      {},
      h('h1', { dir: 'auto' }, title),
      h('p', { class: 'muted', role: 'status' }, found.facets && t.productCount(countOf(found.facets.category))),
      all !== undefined && sortSelect(path, query),
    ),
    all !== undefined && filters(path, query, offered.facets ?? {}, all.currency ?? ''),
    h('div', { class: 'results' }, [
      h('h2', { class: 'unseen' }, t.products),
      found.items.length > 0 ? list : nothingFound(path, query),
      rest,
    ]),
  ]);
  return { title, content, keep: true };
}

/** Asks without facets when the shop refuses them, because the list is too long to count. */
async function withFacets<Result>(
  names: readonly (keyof Facets)[],
  ask: (facets: { readonly facets?: readonly (keyof Facets)[] }) => Promise<Result>,
): Promise<Result> {
  try {
    return await ask({ facets: names });
  } catch (error) {
    if (isShopError(error) && error.code === 'query-too-costly') return ask({});
    throw error;
  }
}

function countOf(counts: Facets['category'] = []): number | string {
  const sum = counts.reduce((total, { count }) => total + Number.parseInt(String(count), 10), 0);
  return counts.some(({ count }) => typeof count === 'string') ? `${sum}+` : sum;
}

function nothingFound(path: string, query: URLSearchParams): HTMLElement {
  const isFiltered = filterNames.some((name) => query.has(name));
  return h('div', { class: 'empty' }, [
    h('p', {}, isFiltered ? t.nothingWithFilters : t.nothingFound),
    isFiltered
      ? h('a', { class: 'button', href: withoutFilters(path, query) }, t.withoutFilters)
      : h('a', { class: 'button', href: '/' }, t.toHome),
  ]);
}

/** Returns the criteria of the address. Prices and ratings that are not numbers are left out. */
function criteriaOf(query: URLSearchParams): ProductCriteria {
  const numberOf = (name: string): number | undefined => {
    const value = Number.parseFloat(query.get(name) ?? '');
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  const brands = query.getAll('brand').slice(0, 100);
  const [from, to, rating] = [numberOf('from'), numberOf('to'), numberOf('rating')];
  return {
    ...(brands.length > 0 && { brand: brands }),
    ...((from !== undefined || to !== undefined) && {
      price: { ...(from !== undefined && { gte: from }), ...(to !== undefined && { lte: to }) },
    }),
    ...(rating !== undefined && { rating: { gte: rating } }),
    ...(query.has('stock') && { inStock: true }),
    ...(query.has('category') && { category: query.getAll('category') }),
  };
}
