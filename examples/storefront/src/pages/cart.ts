// The cart, with the price that the shop calculates after each change.
import type { CartState } from '@shop/client';
import { type Child, h, replaceContent } from '../dom.ts';
import { money } from '../format.ts';
import { attributeValue } from '../names.ts';
import { pictureOf } from '../pictures.ts';
import { type Listed, type Products, productsOf } from '../product-list.ts';
import type { Address, View } from '../router.ts';
import { cartRead, shop } from '../shop.ts';
import { explain, message, notice } from '../states.ts';
import { t } from '../texts.ts';
import { totals } from '../totals.ts';

export async function cartPage({ signal }: Address): Promise<View> {
  const products = new Map<string, Listed>();
  const content = h('div', {});
  const show = async ({ items }: CartState): Promise<void> => {
    const missing = items.filter(({ productId }) => !products.has(productId));
    for (const [id, product] of await productsOf(missing, signal)) products.set(id, product);
    replaceContent(content, cart(shop.cart.state, products));
  };
  await cartRead;
  await show(shop.cart.state);
  const end = shop.cart.subscribe((state) => void show(state));
  signal.addEventListener('abort', end);
  return { title: t.cart, content };
}

function cart(state: CartState, products: Products): HTMLElement {
  const { items, quote, error, isOrdering } = state;
  if (items.length === 0) {
    return message(t.cartEmptyTitle, t.cartEmpty, h('a', { class: 'button primary', href: '/' }, t.toHome));
  }
  const problems = quote?.problems ?? [];
  const faults = problems.flatMap(({ errors = [] }) => errors);
  const general = problems.filter(({ errors = [] }) => !errors.some(({ pointer }) => pointer?.startsWith('/items/')));
  return h('div', { class: 'page cart-page' }, [
    h('h1', {}, t.cart),
    h(
      'ul',
      { class: 'lines' },
      items.map((item, index) => {
        const fault = faults.find(({ pointer }) => new RegExp(`^/items/${index}(/|$)`).test(pointer ?? ''));
        return line(state, item, products.get(item.productId), fault);
      }),
    ),
    h('section', { class: 'summary', 'aria-label': t.summary }, [
      general.map(({ detail }) => notice('warning', detail)),
      error !== undefined && notice('danger', explain(error)),
      isOrdering && notice('info', t.cartSent),
      quote === undefined
        ? !isOrdering && h('div', { class: 'totals loading', 'aria-busy': error === undefined && 'true' })
        : totals(quote),
      h(
        'a',
        {
          class: 'button primary wide',
          id: 'to-checkout',
          ...(isOrdering || quote?.quote !== undefined
            ? { href: '/checkout' }
            : { 'aria-disabled': 'true', role: 'link' }),
        },
        t.toCheckout,
      ),
      h('p', { class: 'muted' }, t.codeLater),
    ]),
  ]);
}

export interface LineFault {
  readonly detail: string;
  readonly available?: number | '99+';
}

function line(
  { quote, isOrdering }: CartState,
  { productId, quantity }: CartState['items'][number],
  product: Listed | undefined,
  fault: LineFault | undefined,
): HTMLElement {
  const priced = quote?.itemsSummary.find((each) => each.productId === productId);
  const name = product?.name ?? priced?.name ?? t.unknownProduct;
  const set = (units: number) => (): void => void shop.cart.set(productId, units).catch(() => {});
  // Two quick clicks are two units.
  const more = (): void => void shop.cart.add(productId).catch(() => {});
  const input: HTMLInputElement = h('input', {
    id: `quantity-${productId}`,
    type: 'number',
    min: 1,
    max: 999,
    required: true,
    value: quantity,
    disabled: isOrdering,
    inputmode: 'numeric',
    'aria-label': t.quantityOf(name),
    onchange: () => {
      if (input.checkValidity()) set(input.valueAsNumber)();
      else input.value = String(quantity);
    },
  });
  const step = (sign: string, label: string, units: number, onclick: () => void): HTMLElement => {
    const isOut = units < 1 || units > 999 || isOrdering;
    return h(
      'button',
      {
        type: 'button',
        class: 'plain',
        id: `${sign}-${productId}`,
        'aria-label': `${label}: ${name}`,
        disabled: isOut,
        onclick,
      },
      sign,
    );
  };
  return h('li', { class: 'line' }, [
    product === undefined ? h('span', { class: 'picture tile' }, '?') : pictureOf(product),
    h('div', { class: 'what' }, [
      product === undefined ? h('strong', {}, name) : h('a', { href: `/p/${productId}`, dir: 'auto' }, name),
      product?.variant &&
        h('p', { class: 'muted', dir: 'auto' }, Object.values(product.variant.options).map(attributeValue).join(', ')),
      product && h('p', { class: 'muted' }, money(product.price, product.currency)),
    ]),
    fault && notice('warning', h('span', {}, faultText(fault)), adjust(fault, productId)),
    h(
      'div',
      { class: 'stepper' },
      step('−', t.less, quantity - 1, set(quantity - 1)),
      input,
      step('+', t.moreUnits, quantity + 1, more),
    ),
    h('strong', { class: 'amount' }, priced && quote ? money(priced.lineTotal, quote.currency) : ''),
    h(
      'button',
      {
        type: 'button',
        class: 'plain remove',
        id: `remove-${productId}`,
        'aria-label': t.removeOf(name),
        disabled: isOrdering,
        onclick: set(0),
      },
      t.remove,
    ),
  ]);
}

export function faultText({ available, detail }: LineFault): string {
  if (available === undefined) return detail.startsWith('is no product') ? t.notSold : detail;
  return available === 0 ? t.soldOutText : t.onlyAvailable(available);
}

/** A button that orders what there is. */
function adjust({ available = 0 }: LineFault, productId: string): Child {
  if (typeof available !== 'number' || available === 0) return undefined;
  const take = (): void => void shop.cart.set(productId, available).catch(() => {});
  return h('button', { type: 'button', id: `take-${productId}`, onclick: take }, t.takeAvailable(available));
}
