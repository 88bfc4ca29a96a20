// What a customer can do with an order: cancel it whole or in part, return units, and save the invoice.
import { ShopError } from '@shop/client';
import { openDialog } from '../dialog.ts';
import { h } from '../dom.ts';
import { money } from '../format.ts';
import { actionButton, form, labelled, type Values, valuesOf } from '../forms.ts';
import { type Item, lineList } from '../lines.ts';
import type { OrderData } from '../order-data.ts';
import type { Products } from '../product-list.ts';
import { save } from '../save-file.ts';
import { shop } from '../shop.ts';
import { notice } from '../states.ts';
import { t } from '../texts/customers.ts';
import { returnableUnits, returnDialog } from './order-returns.ts';

export function orderActions(
  data: OrderData,
  products: Products,
  signal: AbortSignal,
  refresh: () => Promise<void>,
): HTMLElement {
  const { order } = data;
  const outcome = h('div', { class: 'outcome' });
  const isSent = order.status === 'shipped' || order.status === 'delivered';
  const cancel = (): void => cancelDialog(data, products, signal, refresh);
  const giveBack = (): void => returnDialog(data, products, signal, refresh);
  const invoice = async (): Promise<void> => outcome.replaceChildren(...(await saveInvoice(order.id, signal)));
  return h('div', { class: 'actions' }, [
    order.allowedActions.includes('cancel') &&
      h('button', { type: 'button', id: 'cancel', onclick: cancel }, t.cancelOrder),
    isSent &&
      returnableUnits(data).size > 0 &&
      h('button', { type: 'button', id: 'return', onclick: giveBack }, t.returnUnits),
    isSent && actionButton(t.invoice, invoice, outcome, { id: 'invoice' }),
    outcome,
  ]);
}

/** Saves the invoice as a page of its own, because only requests with the token of the customer get it. */
async function saveInvoice(id: string, signal: AbortSignal): Promise<HTMLElement[]> {
  const headers = { Accept: 'text/html', 'Accept-Language': t.language };
  const params = { path: { orderId: id } };
  const { error, response } = await shop.call.GET('/v1/orders/{orderId}/invoice', { params, headers, signal });
  if (response.status === 404) return [notice('info', t.noInvoice)];
  // The client reads JSON. Other content is in `error`, here the page.
  if (!response.ok) throw new ShopError('getInvoice', response, error);
  save(new Blob([String(error)], { type: 'text/html' }), `invoice-${id}.html`);
  return [];
}

function cancelDialog(
  { order }: OrderData,
  products: Products,
  signal: AbortSignal,
  refresh: () => Promise<void>,
): void {
  const { id, currency, itemsSummary, totalCost, payment } = order;
  const left = itemsSummary.filter(({ quantity }) => quantity > 0);
  const isPaid = payment?.status === 'paid';
  openDialog(
    t.cancelTitle,
    (dialog) => {
      const moneyBack = h('p', { role: 'status' });
      const update = (): void => {
        const isWhole = chosenLines(element, left) === undefined;
        moneyBack.textContent = !isPaid
          ? t.moneyBackNone
          : isWhole
            ? t.moneyBackAll(money(totalCost, currency))
            : t.moneyBackPart;
      };
      const send = async ({ reason = '' }: Values) => {
        const lines = chosenLines(element, left);
        if (lines?.length === 0) throw new Error(t.chooseUnits);
        await shop.orders.cancel(id, {
          ...(reason !== '' && { cancellation_reason: reason }),
          ...(lines && { lines }),
        });
        dialog.close();
        await refresh();
        return undefined;
      };
      const units = lineList(left, currency, products, (item) =>
        unitSelect(item, t.cancelAll, (count) => t.keepUnits(count, item.quantity)),
      );
      const reason = labelled(h('textarea', { name: 'reason', maxlength: 500, rows: 2, dir: 'auto' }), t.cancelReason);
      const options = { button: t.cancelNow, kind: 'danger', send } as const;
      const element = form(options, h('p', {}, t.cancelPart), units, reason, moneyBack);
      element.addEventListener('change', update);
      update();
      return element;
    },
    signal,
  );
}

/** How many units are kept: none, or some of them. */
function unitSelect({ productId, name, quantity }: Item, none: string, label: (count: number) => string): HTMLElement {
  const counts = Array.from({ length: Math.min(quantity, 100) }, (_, index) => index + 1);
  return h('select', { name: `keep ${productId}`, 'aria-label': name }, [
    h('option', { value: '0' }, none),
    counts.map((count) => h('option', { value: count }, label(count))),
  ]);
}

/** Returns the units to cancel; undefined for the whole order. */
function chosenLines(
  element: HTMLFormElement,
  items: readonly Item[],
): { productId: string; quantity: number }[] | undefined {
  const values = valuesOf(element);
  const kept = (productId: string): number => Number(values[`keep ${productId}`] ?? 0);
  if (items.every(({ productId }) => kept(productId) === 0)) return undefined;
  return items
    .map(({ productId, quantity }) => ({ productId, quantity: quantity - kept(productId) }))
    .filter(({ quantity }) => quantity > 0);
}
