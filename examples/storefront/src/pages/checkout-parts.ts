// The parts of the checkout that follow the price: ways of delivery, and the summary with code and total.
import { type CartState, isShopError, type Quote } from '@shop/client';
import { h } from '../dom.ts';
import { money } from '../format.ts';
import { clearFaults, labelled, showFault } from '../forms.ts';
import { type Item, lineList } from '../lines.ts';
import type { Products } from '../product-list.ts';
import { shop } from '../shop.ts';
import { explain, notice } from '../states.ts';
import { t } from '../texts/customers.ts';
import { totals } from '../totals.ts';
import { faultText } from './cart.ts';

type Problem = Quote['problems'][number];

/** Returns the ways of delivery to choose from; undefined while the price is being calculated. */
export function deliveryChoice({ quote, terms }: CartState): HTMLElement | undefined {
  if (quote === undefined) return undefined;
  if (terms.shipping_address?.country === undefined) return h('p', {}, t.countryFirst);
  const { shippingMethods: methods, shipping, currency } = quote;
  const refusal = quote.problems.find(({ code }) => code === 'not-delivered-there');
  if (methods.length === 0) {
    return refusal === undefined ? h('p', {}, t.deliveryNotNeeded) : notice('danger', whyNot(refusal));
  }
  const chosen = terms.shippingMethodId ?? shipping?.methodId;
  // A method that does not deliver to another country is chosen no longer.
  if (terms.shippingMethodId !== undefined && methods.every(({ id }) => id !== terms.shippingMethodId))
    void shop.cart.choose({ shippingMethodId: undefined }).catch(() => {});
  return h(
    'fieldset',
    { class: 'choices' },
    h('legend', { class: 'unseen' }, t.deliveryTitle),
    methods.map(({ id, name, price, days }) => {
      const onchange = (): void => void shop.cart.choose({ shippingMethodId: id }).catch(() => {});
      const input = h('input', {
        type: 'radio',
        id: `method-${id}`,
        name: 'shippingMethodId',
        value: id,
        checked: id === chosen,
        onchange,
      });
      return h('label', { class: 'choice' }, [
        input,
        h('span', {}, [
          h('bdi', { class: 'name' }, name[t.language] ?? name.en ?? ''),
          days !== undefined && h('small', {}, t.days(days.from, days.to)),
        ]),
        h('span', { class: 'money' }, price === 0 ? t.free : money(price, currency)),
      ]);
    }),
  );
}

/** The lines, the code, and the total, with the button that places the order. */
export function orderSummary(products: Products) {
  const lines = h('div');
  const price = h('div', { 'aria-live': 'polite' });
  const problems = h('div', { class: 'problems' });
  const code = codeEntry();
  const button = h('button', { type: 'submit', class: 'primary wide', 'aria-disabled': 'true' }, t.placeFirst);
  const element = h('div', {}, h('h2', {}, t.yourOrder), lines, code.element, price, problems);
  return {
    element,
    button,
    show({ quote, error, isOrdering }: CartState, isSending: boolean): void {
      code.show(quote, isOrdering);
      const isReady = isOrdering || quote?.quote !== undefined;
      button.setAttribute('aria-disabled', String(isSending || !isReady));
      if (isSending) button.textContent = t.placing;
      else if (isOrdering) button.textContent = t.placeAgain;
      else button.textContent = quote ? t.place(money(quote.totalCost, quote.currency)) : t.placeFirst;
      if (quote === undefined) {
        // The former price stays until the new one is there, so that nothing moves.
        if (isOrdering) price.replaceChildren();
        else if (price.childElementCount === 0) price.replaceChildren(h('p', { class: 'calculating' }, t.calculating));
        price.classList.add('stale');
        problems.replaceChildren(...(error === undefined ? [] : [unpriced(error)]));
        return;
      }
      price.classList.remove('stale');
      price.replaceChildren(totals(quote));
      lines.replaceChildren(lineList(quote.itemsSummary, quote.currency, products, (item) => lineProblem(quote, item)));
      problems.replaceChildren(
        ...quote.problems
          .filter(isGeneral)
          .map((problem) => notice('danger', h('span', { dir: 'auto' }, whyNot(problem)))),
      );
    },
  };
}

function unpriced(error: unknown): HTMLElement {
  const again = h('button', { type: 'button', onclick: () => location.reload() }, t.tryAgain);
  return notice('danger', explain(error), isShopError(error) && error.status < 500 ? undefined : again);
}

/** Shows what is wrong with a line, such as the units that are left, beside it. */
function lineProblem(quote: Quote, { productId }: Item): HTMLElement | undefined {
  const faults = quote.problems.flatMap(({ errors = [] }) => errors).filter((fault) => fault.productId === productId);
  return faults.length === 0 ? undefined : h('span', { class: 'fault' }, faults.map(faultText).join(' '));
}

/** Returns what is wrong, without the sentence about the order, which a price does not need. */
function whyNot({ detail }: Problem): string {
  return detail.replace(' Nothing was ordered.', '');
}

/** Whether a problem is shown neither beside a line, nor beside the code or the delivery. */
function isGeneral({ code, errors = [] }: Problem): boolean {
  const hasLines = errors.length > 0 && errors.every(({ productId }) => productId !== undefined);
  return !hasLines && code !== 'discount-not-applicable' && code !== 'not-delivered-there';
}

function codeEntry() {
  const input = h('input', {
    name: 'discountCode',
    autocomplete: 'off',
    autocapitalize: 'characters',
    maxlength: 50,
    dir: 'auto',
    value: shop.cart.state.terms.discountCode,
  });
  const choose = (code: string | undefined): void => void shop.cart.choose({ discountCode: code }).catch(() => {});
  const apply = (): void => choose(input.value.trim() === '' ? undefined : input.value.trim());
  // Enter in the field applies the code and does not place the order.
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    apply();
  });
  const remove = (): void => {
    input.value = '';
    choose(undefined);
    input.focus();
  };
  const applyButton = h('button', { type: 'button', onclick: apply }, t.apply);
  const removeButton = h('button', { type: 'button', hidden: true, onclick: remove }, t.remove);
  const state = h('p', { class: 'code-state', role: 'status' });
  const labelledInput = labelled(input, t.code);
  const element = h('div', { class: 'code' }, labelledInput, applyButton, removeButton, state);
  return {
    element,
    show(quote: Quote | undefined, isOrdering: boolean): void {
      const { discountCode } = shop.cart.state.terms;
      applyButton.hidden = discountCode !== undefined;
      removeButton.hidden = discountCode === undefined;
      input.readOnly = discountCode !== undefined;
      element.inert = isOrdering;
      clearFaults(element);
      state.textContent = '';
      if (quote === undefined || discountCode === undefined) return;
      const refusal = quote.problems.find(({ code }) => code === 'discount-not-applicable');
      const isUsed = quote.discounts?.some(({ code }) => code !== undefined) === true;
      if (refusal !== undefined) showFault(input, whyNot(refusal));
      else state.textContent = isUsed ? t.codeApplied(discountCode) : t.codeUnused(discountCode);
    },
  };
}
