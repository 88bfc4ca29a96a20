// The returns of an order, and the dialog that asks for one.
import type { components } from '@shop/client';
import { openDialog } from '../dialog.ts';
import { h } from '../dom.ts';
import { date, money } from '../format.ts';
import { actionButton, form, labelled, type Values } from '../forms.ts';
import { lineList } from '../lines.ts';
import type { OrderData, Return } from '../order-data.ts';
import type { Products } from '../product-list.ts';
import { shop } from '../shop.ts';
import { notice } from '../states.ts';
import { t } from '../texts/customers.ts';

type Reason = components['schemas']['ReturnReason'];

export function returnCards(returns: readonly Return[], refresh: () => Promise<void>): HTMLElement {
  return h(
    'ul',
    { class: 'returns' },
    returns.map(({ id, status, createdAt, lines, comment, refusalReason, refund, currency, allowedActions }) => {
      const outcome = h('div', { class: 'outcome' });
      const withdraw = async (): Promise<void> => {
        await shop.returns.withdraw(id);
        await refresh();
      };
      return h('li', {}, [
        h(
          'div',
          { class: 'return-head' },
          h('span', { class: `state ${status}` }, t.returnStatus[status]),
          h('small', {}, date(createdAt)),
        ),
        lines.map(({ name, quantity, reason }) =>
          h('p', { dir: 'auto' }, `${quantity} × ${name}`, ' ', h('small', {}, t.reasons[reason])),
        ),
        comment !== undefined && h('p', { dir: 'auto' }, h('small', {}, comment)),
        refusalReason !== undefined && notice('warning', h('span', { dir: 'auto' }, refusalReason)),
        refund !== undefined && h('p', {}, t.refundDue(money(refund, currency))),
        allowedActions.includes('withdraw') && actionButton(t.withdraw, withdraw, outcome, { id: `withdraw-${id}` }),
        outcome,
      ]);
    }),
  );
}

/** Returns the units that can still be returned, by product. */
export function returnableUnits({ order, returns }: OrderData): ReadonlyMap<string, number> {
  const taken = (productId: string): number =>
    returns
      .filter(({ status }) => status !== 'refused' && status !== 'withdrawn')
      .flatMap(({ lines }) => lines)
      .filter((line) => line.productId === productId)
      .reduce((sum, { quantity, received }) => sum + (received ?? quantity), 0);
  const left = order.itemsSummary.map(({ productId, quantity }) => [productId, quantity - taken(productId)] as const);
  return new Map(left.filter(([, units]) => units > 0));
}

export function returnDialog(
  data: OrderData,
  products: Products,
  signal: AbortSignal,
  refresh: () => Promise<void>,
): void {
  const { id, currency, itemsSummary } = data.order;
  const units = returnableUnits(data);
  const items = itemsSummary.filter(({ productId }) => units.has(productId));
  openDialog(
    t.returnTitle,
    (dialog) => {
      const send = async (values: Values) => {
        const lines = items
          .map(({ productId }) => ({
            productId,
            quantity: Number(values[`units ${productId}`]),
            reason: values[`reason ${productId}`] as Reason,
          }))
          .filter(({ quantity }) => quantity > 0);
        if (lines.length === 0) throw new Error(t.chooseUnits);
        const { comment = '' } = values;
        await shop.orders.createReturn(id, { lines, ...(comment !== '' && { comment }) });
        dialog.close();
        await refresh();
        return undefined;
      };
      const choices = lineList(items, currency, products, ({ productId, name }) => {
        const counts = Array.from({ length: Math.min(units.get(productId) ?? 0, 100) }, (_, index) => index + 1);
        const reason = h(
          'select',
          { name: `reason ${productId}`, 'aria-label': `${t.returnReason}: ${name}`, hidden: true },
          Object.entries(t.reasons).map(([value, text]) => h('option', { value }, text)),
        );
        const choose = (): void => {
          reason.hidden = number.value === '0';
        };
        const number = h('select', { name: `units ${productId}`, 'aria-label': name, onchange: choose }, [
          h('option', { value: 0 }, t.returnNone),
          counts.map((count) => h('option', { value: count }, t.returnCount(count))),
        ]);
        return h('div', { class: 'line-choice' }, number, reason);
      });
      const comment = labelled(
        h('textarea', { name: 'comment', maxlength: 1000, rows: 3, dir: 'auto' }),
        t.returnComment,
      );
      return form({ button: t.returnSend, send }, choices, comment);
    },
    signal,
  );
}
