// The lines of an order or a quote, with pictures.
import type { components } from '@shop/client';
import { type Child, h } from './dom.ts';
import { money } from './format.ts';
import { attributeValue } from './names.ts';
import { pictureOf } from './pictures.ts';
import type { Products } from './product-list.ts';
import { t } from './texts/customers.ts';

export type Item = components['schemas']['OrderItem'];

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
