// The lines of an order or a quote, with pictures.
import type { components, Product } from '@shop/client';
import { type Child, h } from './dom.ts';
import { money } from './format.ts';
import { attributeValue } from './names.ts';
import { pictureOf } from './pictures.ts';
import { shop } from './shop.ts';
import { t } from './texts/customers.ts';

export type Item = components['schemas']['OrderItem'];
/** The members of a product that a line shows. */
const fields = ['id', 'name', 'category', 'attributes', 'images', 'variant'] as const;
export type Products = ReadonlyMap<string, Pick<Product, (typeof fields)[number]>>;

/** Reads what the lines do not have: pictures and options. Without the catalogue, lines are shown without them. */
export async function productsOf(
  items: readonly { readonly productId: string }[],
  signal: AbortSignal,
): Promise<Products> {
  const ids = [...new Set(items.map(({ productId }) => productId))].slice(0, 100);
  if (ids.length === 0) return new Map();
  const page = await shop.products.page({ id: ids }, { limit: 100, fields, signal }).catch(() => undefined);
  return new Map(page?.items.map((product) => [product.id, product]));
}

/** @param more returns what is shown below a line */
export function lineList(
  items: readonly Item[],
  currency: string,
  products: Products,
  more: (item: Item) => Child = () => undefined,
): HTMLElement {
  return h(
    'ul',
    { class: 'order-lines' },
    items.map((item) => {
      const product = products.get(item.productId);
      const options = Object.values(product?.variant?.options ?? {})
        .map(attributeValue)
        .join(', ');
      return h('li', {}, [
        h('span', { class: 'thumb' }, product && pictureOf(product)),
        h('div', { class: 'line-text' }, [
          h('a', { href: `/p/${item.productId}`, dir: 'auto' }, item.name),
          options !== '' && h('small', { dir: 'auto' }, options),
          h('small', {}, [
            t.units(item.quantity),
            item.quantity > 1 && ` · ${t.each(money(item.unitPrice, currency))}`,
          ]),
          item.cancelledQuantity !== undefined && h('small', {}, t.cancelledUnits(item.cancelledQuantity)),
          item.returnedQuantity !== undefined && h('small', {}, t.returnedUnits(item.returnedQuantity)),
          more(item),
        ]),
        h('span', { class: 'money' }, money(item.lineTotal, currency)),
      ]);
    }),
  );
}
