// Products side by side.
import type { Product } from '@shop/client';
import { type Child, h } from './dom.ts';
import { money, number } from './format.ts';
import { attributeName } from './names.ts';
import { pictureOf } from './pictures.ts';
import { shop } from './shop.ts';
import { t } from './texts.ts';

/** The members of a product that a list shows. */
export const listFields = [
  'id',
  'name',
  'brand',
  'category',
  'price',
  'currency',
  'rating',
  'status',
  'inStock',
  'images',
  'attributes',
  'variant',
] as const;

export type Listed = Pick<Product, (typeof listFields)[number]>;
export type Products = ReadonlyMap<string, Listed>;

/** Reads the products of a cart or an order, by id. Lines are shown without them when the catalogue does not answer. */
export async function productsOf(
  items: readonly { readonly productId: string }[],
  signal: AbortSignal,
): Promise<Products> {
  const ids = [...new Set(items.map(({ productId }) => productId))].slice(0, 100);
  if (ids.length === 0) return new Map();
  const page = await shop.products.page({ id: ids }, { limit: 100, fields: listFields, signal }).catch(() => undefined);
  return new Map(page?.items.map((product) => [product.id, product]));
}

/** @param first how many pictures are loaded before others */
export function productList(products: readonly Listed[], first = 0): HTMLUListElement {
  return h(
    'ul',
    { class: 'products' },
    products.map((product, index) => productCard(product, index < first)),
  );
}

export function productCard(product: Listed, isFirst = false): HTMLLIElement {
  const { id, name, brand, price, currency, rating, variant } = product;
  return h('li', { class: 'card' }, [
    h('div', { class: 'frame' }, pictureOf(product, isFirst), stockBadge(product)),
    h('h3', {}, h('a', { href: `/p/${id}`, dir: 'auto' }, name)),
    h(
      'p',
      { class: 'brand' },
      h('bdi', {}, brand),
      variant !== undefined && ` · ${Object.keys(variant.options).map(attributeName).join(', ')}`,
    ),
    h('p', { class: 'facts' }, [
      h('strong', {}, money(price, currency)),
      rating === undefined ? undefined : stars(rating),
    ]),
  ]);
}

/** The average rating, with one star. */
export function stars(rating: number): HTMLElement {
  const shown = number(rating, 1);
  return h('span', { class: 'stars' }, [
    h('span', { 'aria-hidden': 'true' }, `★ ${shown}`),
    h('span', { class: 'unseen' }, t.rated(shown)),
  ]);
}

function stockBadge({ inStock, status }: Listed): Child {
  if (inStock) return undefined;
  const text = status === 'backorder' ? t.backorder : t.soldOut;
  return h('span', { class: 'badge' }, text);
}

/** Grey blocks in place of products that are loading. */
export function productsLoading(count: number): HTMLElement {
  return h(
    'div',
    { class: 'products loading', 'aria-hidden': 'true' },
    Array.from({ length: count }, () => h('div')),
  );
}
