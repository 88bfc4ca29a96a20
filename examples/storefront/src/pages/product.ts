// One product: pictures, versions, price, stock, and similar products.
import type { Product } from '@shop/client';
import { categoryAddress } from '../categories.ts';
import { type Child, h, replaceContent } from '../dom.ts';
import { money, number } from '../format.ts';
import { attributeName, attributeValue, categoryName } from '../names.ts';
import { picturesOf } from '../pictures.ts';
import { listFields, productList, productsLoading, stars } from '../product-list.ts';
import type { Address, View } from '../router.ts';
import { shop } from '../shop.ts';
import { explain, later, notice } from '../states.ts';
import { t } from '../texts.ts';
import { versionChoice } from '../versions.ts';

export async function productPage({ id, signal }: Address): Promise<View> {
  const product = await shop.products.get(id, { signal });
  const { name, description, brand, category, price, currency, rating } = product;
  const pictures = picturesOf(product, true);
  const content = h('div', { class: 'page product' }, [
    h('nav', { class: 'path', 'aria-label': t.path }, [
      h('a', { href: '/' }, t.home),
      h('a', { href: categoryAddress(category), dir: 'auto' }, categoryName(category)),
    ]),
    h('div', { class: 'gallery' }, pictures),
    h('div', { class: 'buy' }, [
      h('p', { class: 'brand' }, h('a', { href: `/search?${new URLSearchParams({ brand })}`, dir: 'auto' }, brand)),
      h('h1', { dir: 'auto' }, name),
      h('p', { class: 'facts' }, [
        h('strong', { class: 'price' }, money(price, currency)),
        rating !== undefined && stars(rating),
      ]),
      description !== undefined && h('p', { dir: 'auto' }, description),
      versionChoice(product),
      stockState(product),
      addForm(product),
      later(deliveryOf(product, signal), h('p', { class: 'delivery' }, '\u00a0'), (text) => text),
      attributeTable(product),
    ]),
    later(similarTo(product, signal), productsLoading(4), (items) => {
      return items.length > 0 && h('section', { class: 'similar' }, h('h2', {}, t.similar), productList(items));
    }),
  ]);
  return { title: name, content, keep: true };
}

function stockState({ inStock, status }: Product): HTMLElement {
  if (inStock) return h('p', { class: 'stock in' }, t.inStock);
  return h('p', { class: 'stock' }, status === 'backorder' ? t.backorderText : t.soldOutText);
}

function addForm({ id, name, inStock, status }: Product): Child {
  if (!inStock && status !== 'backorder') return undefined;
  const quantity = h('input', {
    id: 'quantity',
    type: 'number',
    min: 1,
    max: 999,
    value: 1,
    required: true,
    inputmode: 'numeric',
  });
  const answer = h('div', { role: 'status' });
  const button = h('button', { type: 'submit', class: 'primary', id: 'add' }, t.addToCart);
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await shop.cart.add(id, quantity.valueAsNumber);
      const text = h('span', { dir: 'auto' }, t.added(quantity.valueAsNumber, name));
      replaceContent(answer, notice('success', text, ' ', h('a', { href: '/cart' }, t.toCart)));
    } catch (error) {
      replaceContent(answer, notice('danger', explain(error)));
    }
  };
  return h('form', { class: 'add', onsubmit: (event) => void add(event) }, [
    h('label', { class: 'unseen', for: 'quantity' }, t.quantity),
    quantity,
    button,
    answer,
  ]);
}

/** Returns what the usual delivery of one unit costs and how long it takes. */
async function deliveryOf({ id, shipped }: Product, signal: AbortSignal): Promise<Child> {
  if (!shipped) return h('p', { class: 'delivery' }, t.noDelivery);
  const { shipping, currency, shippingMethods } = await shop.quoteOrder(
    { items: [{ productId: id, quantity: 1 }] },
    { signal },
  );
  if (shipping === undefined) return shippingMethods.length > 0 && h('p', { class: 'delivery' }, t.deliveryLater);
  const { days, price } = shipping;
  const cost = price === 0 ? t.freeDelivery : t.delivery(money(price, currency));
  return h('p', { class: 'delivery' }, [cost, days && `, ${t.days(days.from, days.to)}`]);
}

function attributeTable({ attributes = {}, weight }: Product): Child {
  const rows = Object.entries(attributes)
    .filter(([name]) => name !== 'kind')
    .map(([name, value]) => [attributeName(name), attributeValue(value)] as const);
  if (weight !== undefined) rows.push([t.weight, `${number(weight)} kg`]);
  if (rows.length === 0) return undefined;
  return h('section', { class: 'details' }, [
    h('h2', {}, t.details),
    h(
      'dl',
      {},
      rows.map(([name, value]) => h('div', {}, h('dt', { dir: 'auto' }, name), h('dd', { dir: 'auto' }, value))),
    ),
  ]);
}

async function similarTo({ id, category, variant }: Product, signal: AbortSignal) {
  const sort = [{ field: 'rating', direction: 'desc' }] as const;
  const { items } = await shop.products.page(
    { category, lead: true, inStock: true },
    { limit: 6, fields: listFields, sort, signal },
  );
  const others = items.filter(
    (each) => each.id !== id && (variant === undefined || each.variant?.group !== variant.group),
  );
  return others.slice(0, 4);
}
