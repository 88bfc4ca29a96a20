// One order: its progress, lines, money and history. The page shows each change as it happens.
import { isShopError, type Order } from '@shop/client';
import { addressLines } from '../address-fields.ts';
import { h, replaceContent } from '../dom.ts';
import { date, dateAndTime, money } from '../format.ts';
import { lineList } from '../lines.ts';
import { type OrderData, readOrder } from '../order-data.ts';
import { panel } from '../panel.ts';
import { type Products, productsOf } from '../product-list.ts';
import type { Address, View } from '../router.ts';
import { shop } from '../shop.ts';
import { notice } from '../states.ts';
import { t } from '../texts/customers.ts';
import { totals } from '../totals.ts';
import { orderActions } from './order-actions.ts';
import { returnCards } from './order-returns.ts';
import { progress, statusBadge, timeline } from './order-timeline.ts';

export async function orderPage({ id, query, signal }: Address): Promise<View> {
  // The position comes first, so that no change between it and the order is missed.
  const { nextCursor: cursor } = await positionNow(signal);
  let data = await readOrder(id, signal);
  const products = await productsOf(data.order.itemsSummary, signal);
  const parts = h('div');
  const news = h('p', { class: 'unseen', role: 'status' });
  const show = (next: OrderData): void => {
    if (next.order.status !== data.order.status) news.textContent = t.updated(t.status[next.order.status]);
    data = next;
    replaceContent(parts, orderParts(data, products, { signal, refresh }));
  };
  let [begun, newest] = [0, 0];
  const refresh = async (): Promise<void> => {
    begun += 1;
    const read = begun;
    const next = await readOrder(id, signal);
    // An older read may end later.
    if (read < newest) return;
    newest = read;
    show(next);
  };
  show(data);
  void followOrder(id, cursor, signal, refresh);
  const placed = query.has('placed') && (await placedNote());
  // The page thanks once, and not again when it is loaded again.
  if (placed && !signal.aborted) history.replaceState(history.state, '', location.pathname);
  const title = t.orderOf(date(data.order.createdAt));
  const back = h('a', { class: 'back', href: '/orders' }, t.toOrders);
  const head = h('div', { class: 'order-head' }, h('h1', {}, title), h('small', {}, t.orderNumber(id)));
  return { title, content: h('div', { class: 'page order' }, back, placed, head, news, parts) };
}

/** Thanks for the order, and names what is left to do. */
async function placedNote(): Promise<HTMLElement> {
  const account = await shop.me().catch(() => undefined);
  return notice(
    'success',
    h('strong', {}, t.placedTitle),
    h('p', {}, t.placedText),
    account?.email_verified === false && h('p', {}, t.confirmFirst),
  );
}

async function positionNow(signal: AbortSignal): Promise<{ nextCursor: string | undefined }> {
  const { data } = await shop.call.GET('/v1/changes', { params: { query: { cursor: 'now' } }, signal });
  return { nextCursor: data?.nextCursor };
}

/** Reads the order again after each change of it or of its returns, until the visitor leaves the page. */
async function followOrder(
  id: string,
  cursor: string | undefined,
  signal: AbortSignal,
  refresh: () => Promise<void>,
): Promise<void> {
  const options = { types: ['order', 'return'] as const, signal, ...(cursor !== undefined && { cursor }) };
  try {
    for await (const { items } of shop.changes(options))
      if (items.some(({ type, resource }) => type.startsWith('return.') || resource.endsWith(id)))
        await refreshUntilRead(refresh, signal);
  } catch {
    // The visitor has left, or the session has ended. The page keeps what it shows.
  }
}

/** A read that fails, as without a connection, is repeated: no other change may ever come. */
async function refreshUntilRead(refresh: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await refresh();
    } catch (error) {
      if (isShopError(error) && [401, 403, 404].includes(error.status)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5_000));
    }
  }
}

interface Live {
  readonly signal: AbortSignal;
  readonly refresh: () => Promise<void>;
}

function orderParts(data: OrderData, products: Products, { signal, refresh }: Live): HTMLElement[] {
  const { order, returns } = data;
  const { currency, shipping_address: address, tracking } = order;
  const amount = (value: number): string => money(value, currency);
  return [
    h('div', { class: 'order-top' }, [
      order.status === 'cancelled' && statusBadge(order.status),
      paymentNotes(order, amount),
      progress(data),
      orderActions(data, products, signal, refresh),
    ]),
    h('div', { class: 'order-body' }, [
      h('div', { class: 'stack' }, [
        panel(t.lines, lineList(order.itemsSummary, currency, products)),
        returns.length > 0 && panel(t.returns, returnCards(returns, refresh)),
        panel(t.timeline, timeline(data)),
      ]),
      h('div', { class: 'stack' }, [
        panel(t.money, totals(order)),
        panel(t.sentTo, address === undefined ? h('p', {}, t.noAddress) : addressLines(address)),
        tracking !== undefined && panel(t.tracking, trackingView(tracking)),
      ]),
    ]),
  ];
}

function paymentNotes({ payment, totalCost }: Order, amount: (value: number) => string): HTMLElement[] {
  if (payment === undefined) return [];
  const { status, dueAt, refundDue, refunded } = payment;
  return [
    status === 'due' &&
      notice(
        'warning',
        h('strong', {}, t.dueTitle(amount(totalCost))),
        dueAt !== undefined && h('p', {}, t.dueText(dateAndTime(dueAt))),
        // The gateway of `npm start` has the guides, too.
        document.querySelector('meta[name="demo"]') !== null &&
          h('p', {}, h('a', { href: '/docs/taking-payments' }, t.dueDemo)),
      ),
    status === 'paid' && notice('success', t.paid),
    refundDue !== undefined && notice('info', t.refundDue(amount(refundDue))),
    refunded !== undefined && notice('info', t.refunded(amount(refunded))),
  ].filter((note) => note !== false);
}

function trackingView({
  carrier,
  tracking_number: code,
  tracking_url: url,
}: NonNullable<Order['tracking']>): HTMLElement {
  const isWeb = url !== undefined && /^https?:\/\//i.test(url);
  return h('div', { class: 'tracking' }, [
    carrier !== undefined && h('p', { dir: 'auto' }, carrier),
    code !== undefined && h('p', {}, h('code', { dir: 'auto' }, code)),
    isWeb && h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, t.follow),
  ]);
}
