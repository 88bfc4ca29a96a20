// The orders of the customer, the newest first.

import type { Order } from '@shop/client';
import { h } from '../dom.ts';
import { date, money } from '../format.ts';
import { actionButton } from '../forms.ts';
import { pictureOf } from '../pictures.ts';
import { type Products, productsOf } from '../product-list.ts';
import type { Address, View } from '../router.ts';
import { shop } from '../shop.ts';
import { message } from '../states.ts';
import { t } from '../texts/customers.ts';
import { statusBadge } from './order-timeline.ts';

const pageSize = 10;
const mostPictures = 4;

export async function ordersPage({ signal }: Address): Promise<View> {
  const list = h('ul', { class: 'order-list' });
  let cursor: string | undefined;
  const outcome = h('div', { class: 'outcome' });
  const readMore = async (): Promise<number> => {
    const page = await shop.orders.page({}, { limit: pageSize, signal, ...(cursor !== undefined && { cursor }) });
    // Without `fields`, a page has whole orders.
    const orders = page.items as Order[];
    const products = await productsOf(
      orders.flatMap(({ itemsSummary }) => itemsSummary.slice(0, mostPictures)),
      signal,
    );
    list.append(...orders.map((order) => card(order, products)));
    cursor = page.pagination.nextCursor;
    more.hidden = cursor === undefined;
    return orders.length;
  };
  const more = actionButton(t.moreOrders, readMore, outcome, { hidden: true });
  if ((await readMore()) === 0) {
    const start = h('a', { class: 'button primary', href: '/' }, t.toProducts);
    return { title: t.yourOrders, content: message(t.ordersEmptyTitle, t.ordersEmptyText, start) };
  }
  return { title: t.yourOrders, content: h('div', { class: 'page' }, h('h1', {}, t.yourOrders), list, outcome, more) };
}

function card({ id, status, createdAt, itemsSummary, totalCost, currency }: Order, products: Products): HTMLElement {
  const names = itemsSummary.map(({ name }) => name);
  const rest = names.length - 2;
  return h('li', { class: 'panel' }, [
    h('a', { href: `/orders/${id}`, class: 'cover' }, t.orderOf(date(createdAt))),
    statusBadge(status),
    h('div', { class: 'thumbs' }, [
      itemsSummary.slice(0, mostPictures).map(({ productId }) => {
        const product = products.get(productId);
        return h('span', { class: 'thumb' }, product && pictureOf(product));
      }),
    ]),
    h('p', { dir: 'auto' }, names.slice(0, 2).join(', '), rest > 0 && ` ${t.andMore(rest)}`),
    h('span', { class: 'money' }, money(totalCost, currency)),
  ]);
}
