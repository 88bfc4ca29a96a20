// The checkout: address, delivery, discount code, and the price that the shop calculates after each change.
import { type Account, type CartState, isShopError } from '@shop/client';
import { addressFields, addressOf, type ShippingAddress } from '../address-fields.ts';
import { likelyCountry } from '../countries.ts';
import { withReturn } from '../customers.ts';
import { h } from '../dom.ts';
import { checkRequired, clearFaults, showRefusal, valuesOf } from '../forms.ts';
import { productsOf } from '../lines.ts';
import { type Address, navigate, type View } from '../router.ts';
import { cartRead, isLoggedIn, sessionRead, shop } from '../shop.ts';
import { message, notice } from '../states.ts';
import { t } from '../texts.ts';
import { deliveryChoice, orderSummary } from './checkout-parts.ts';

export async function checkoutPage({ signal }: Address): Promise<View> {
  await Promise.all([cartRead, sessionRead]);
  const { items, terms, isOrdering } = shop.cart.state;
  if (items.length === 0) return { title: t.checkout, content: emptyCheckout() };
  const account = isLoggedIn() ? await shop.me() : undefined;
  const address = terms.shipping_address ?? knownAddress(account);
  if (!isOrdering) await shop.cart.choose({ shipping_address: address });
  const products = await productsOf(items, signal);

  const fields = addressFields(address);
  const delivery = h('div', { class: 'delivery' });
  const summary = orderSummary(products);
  const outcome = h('div', { class: 'outcome' });
  const save = h('input', { type: 'checkbox', checked: account?.shipping_address === undefined });
  const place = async (event: Event): Promise<void> => {
    event.preventDefault();
    clearFaults(element);
    outcome.replaceChildren();
    if (!isLoggedIn()) return navigate(withReturn('/register', '/checkout'));
    if (summary.button.getAttribute('aria-disabled') === 'true' || !checkRequired(element)) return;
    if (account !== undefined && save.checked) await keepAddress(addressOf(valuesOf(element)));
    await order(element, outcome);
  };
  const change = (): void => {
    const given = addressOf(valuesOf(element));
    void shop.cart.choose({ shipping_address: given }).catch(() => {});
  };
  fields.addEventListener('change', change);

  const element = h('form', { class: 'checkout', novalidate: true, onsubmit: place }, [
    h('div', { class: 'steps' }, [
      account === undefined ? guestNote() : h('p', { class: 'as' }, h('bdi', {}, t.asAccount(account.email))),
      h('section', { class: 'panel', 'aria-labelledby': 'address-title' }, [
        h('h2', { id: 'address-title' }, t.address),
        fields,
        account !== undefined && h('label', { class: 'check' }, save, t.saveAddress),
      ]),
      h(
        'section',
        { class: 'panel', 'aria-labelledby': 'delivery-title' },
        h('h2', { id: 'delivery-title' }, t.deliveryTitle),
        delivery,
      ),
      h(
        'section',
        { class: 'panel', 'aria-labelledby': 'payment-title' },
        h('h2', { id: 'payment-title' }, t.payment),
        h('p', {}, t.paymentText),
      ),
    ]),
    h(
      'aside',
      { class: 'panel checkout-summary', 'aria-label': t.yourOrder },
      summary.element,
      outcome,
      summary.button,
    ),
  ]);

  const show = (state: CartState): void => {
    if (state.items.length === 0) return;
    summary.show(state);
    const chosen = deliveryChoice(state);
    if (chosen !== undefined) delivery.replaceChildren(chosen);
  };
  const end = shop.cart.subscribe(show);
  signal.addEventListener('abort', end, { once: true });
  show(shop.cart.state);
  const content = h('div', { class: 'page' }, h('h1', {}, t.checkout), element);
  // The response to an order got lost, as when the page was loaded again: the same order is sent with the same key.
  if (isOrdering && isLoggedIn()) {
    outcome.replaceChildren(notice('info', t.placingAgain));
    void order(element, outcome);
  }
  return { title: t.checkout, content };
}

async function order(element: HTMLFormElement, outcome: HTMLElement): Promise<void> {
  try {
    const { id } = await shop.cart.order();
    navigate(`/orders/${id}?placed=`, { replace: true });
  } catch (error) {
    const isPrice = isShopError(error, 'createOrder') && ['price-changed', 'quote-expired'].includes(error.code ?? '');
    const shown = isPrice
      ? [notice('warning', t.priceNow)]
      : showRefusal(element, error, { 'discount-not-applicable': 'discountCode' });
    outcome.replaceChildren(...shown);
  }
}

/** Keeps the address in the account. The order does not depend on it. */
async function keepAddress(address: ShippingAddress | undefined): Promise<void> {
  if (address === undefined) return;
  const { recipient: _, ...kept } = address;
  await shop.accounts.update('me', { shipping_address: kept }).catch(() => {});
}

function knownAddress(account: Account | undefined): ShippingAddress {
  const country = likelyCountry();
  return {
    ...(account && { recipient: account.name }),
    ...(country !== undefined && { country }),
    ...account?.shipping_address,
  };
}

function guestNote(): HTMLElement {
  return h('section', { class: 'panel guest' }, [
    h('p', {}, t.asGuest),
    h('div', { class: 'actions' }, [
      h('a', { class: 'button primary', href: withReturn('/log-in', '/checkout') }, t.logIn),
      h('a', { class: 'button', href: withReturn('/register', '/checkout') }, t.register),
    ]),
  ]);
}

function emptyCheckout(): HTMLElement {
  return message(
    t.checkoutEmptyTitle,
    t.checkoutEmptyText,
    h('a', { class: 'button primary', href: '/' }, t.toProducts),
  );
}
