// The checkout: address, delivery, discount code, and the price that the shop calculates after each change.
import { type Account, type CartState, isShopError, UnknownOutcomeError } from '@shop/client';
import { addressChange, addressFields, addressOf, type ShippingAddress } from '../address-fields.ts';
import { likelyCountry } from '../countries.ts';
import { withReturn } from '../customers.ts';
import { h, replaceContent } from '../dom.ts';
import { dateAndTime } from '../format.ts';
import { actionButton, checkRequired, clearFaults, showRefusal, type Values, valuesOf } from '../forms.ts';
import { productsOf } from '../product-list.ts';
import { type Address, navigate, refresh, type View } from '../router.ts';
import { cartRead, isLoggedIn, sessionRead, shop } from '../shop.ts';
import { explain, message, notice } from '../states.ts';
import { t } from '../texts/customers.ts';
import { deliveryChoice, orderSummary } from './checkout-parts.ts';

export async function checkoutPage({ signal }: Address): Promise<View> {
  await Promise.all([cartRead, sessionRead]);
  const { items, terms, isOrdering } = shop.cart.state;
  if (items.length === 0) return { title: t.checkout, content: emptyCheckout() };
  const account = isLoggedIn() ? await shop.me() : undefined;
  const address = startAddress(terms.shipping_address, account);
  const products = await productsOf(items, signal);

  const fields = addressFields(address);
  const delivery = h('div', { class: 'delivery' });
  const summary = orderSummary(products);
  const outcome = h('div', { class: 'outcome' });
  const save = h('input', { type: 'checkbox', checked: account?.shipping_address === undefined });
  let isSending = false;
  /** Sends the order. One whose response got lost is sent again with the same key. */
  const send = async (accountId: string): Promise<void> => {
    isSending = true;
    show(shop.cart.state);
    try {
      if (!shop.cart.state.isOrdering) {
        // Another tab may have changed the cart, and a code may wait for its button.
        const values = valuesOf(element);
        await shop.cart.choose({ shipping_address: addressOf(values), discountCode: values.discountCode || undefined });
        if (shop.cart.state.quote?.quote === undefined) throw new Error(t.priceFirst);
        if (save.checked) await keepAddress(values);
      }
      const { id } = await shop.cart.order({ accountId });
      // The cart is empty now, and the page of the order comes.
      return navigate(`/orders/${id}?placed=`, { replace: true });
    } catch (error) {
      outcome.replaceChildren(...failure(element, error));
      if (shop.cart.state.isOrdering) addEventListener('online', place, { once: true, signal });
    }
    isSending = false;
    show(shop.cart.state);
  };
  const place = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (account === undefined) return navigate(withReturn('/register', '/checkout'));
    if (!isLoggedIn()) return navigate(withReturn('/log-in', '/checkout'));
    if (isSending || summary.button.getAttribute('aria-disabled') === 'true') return;
    clearFaults(element);
    outcome.replaceChildren();
    if (shop.cart.state.isOrdering || checkRequired(element)) await send(account.id);
  };
  const change = (): Promise<void> =>
    shop.cart.choose({ shipping_address: addressOf(valuesOf(element)) }).catch(() => {});
  fields.addEventListener('change', () => void change());

  const steps = h('div', { class: 'steps' }, [
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
  ]);
  const element = h('form', { class: 'checkout', novalidate: true, onsubmit: place }, [
    steps,
    h(
      'aside',
      { class: 'panel checkout-summary', 'aria-label': t.yourOrder },
      summary.element,
      outcome,
      summary.button,
    ),
  ]);

  const show = (state: CartState): void => {
    if (state.items.length === 0) {
      if (!isSending) content.replaceChildren(emptyCheckout());
      return;
    }
    steps.inert = state.isOrdering;
    summary.show(state, isSending);
    const chosen = deliveryChoice(state);
    if (chosen !== undefined) replaceContent(delivery, chosen);
  };
  const content = h('div', {}, h('div', { class: 'page' }, h('h1', {}, t.checkout), element));
  if (!isOrdering) await change();
  const end = shop.cart.subscribe(show);
  signal.addEventListener('abort', end, { once: true });
  show(shop.cart.state);
  // The response to an order got lost, as when the page was loaded again.
  if (isOrdering && account !== undefined) {
    outcome.replaceChildren(notice('info', t.placingAgain));
    void send(account.id);
  }
  return { title: t.checkout, content };
}

function failure(element: HTMLFormElement, error: unknown): HTMLElement[] {
  if (error instanceof UnknownOutcomeError) return [unknownOutcome(error)];
  if (shop.cart.state.isOrdering) return [notice('danger', explain(error), h('p', {}, t.placeAgainText))];
  if (isShopError(error, 'createOrder') && ['price-changed', 'quote-expired'].includes(error.code ?? ''))
    return [notice('warning', t.priceNow)];
  return showRefusal(element, error, { 'discount-not-applicable': 'discountCode' });
}

/** An order that must not be sent again: another customer sent it, or the shop would take it for a new one. */
function unknownOutcome({ sentAt, isOfOtherAccount }: UnknownOutcomeError): HTMLElement {
  const proceed = async (): Promise<void> => {
    await shop.cart.forget();
    if (isOfOtherAccount) await forgetTerms();
    refresh();
  };
  const outcome = h('div', { class: 'outcome' });
  return notice(
    'warning',
    h('p', {}, (isOfOtherAccount ? t.sentByOther : t.sentBefore)(dateAndTime(sentAt.toISOString()))),
    h('div', { class: 'actions' }, [
      !isOfOtherAccount && h('a', { class: 'button', href: '/orders' }, t.yourOrders),
      actionButton(t.keepCart, proceed, outcome),
    ]),
    outcome,
  );
}

/** Forgets address, delivery and code, which belong to one customer. */
export async function forgetTerms(): Promise<void> {
  const none = { shipping_address: undefined, shippingMethodId: undefined, discountCode: undefined };
  await shop.cart.choose(none).catch(() => {});
}

/** Keeps the address in the account. The order does not depend on it. */
async function keepAddress(values: Values): Promise<void> {
  await shop.accounts.update('me', { shipping_address: addressChange(values) }).catch(() => {});
}

/** The address that the visitor has begun to write, or that of the account. A country alone may be a guess. */
function startAddress(written: ShippingAddress = {}, account: Account | undefined): ShippingAddress {
  const { street_address, postal_code, city } = written;
  if ((street_address ?? postal_code ?? city) !== undefined) return written;
  const country = likelyCountry();
  return {
    ...(account && { recipient: account.name }),
    ...(country !== undefined && { country }),
    ...written,
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
