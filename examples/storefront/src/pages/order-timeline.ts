// How far an order is, and what happened to it, in plain words.
import type { Order } from '@shop/client';
import { type Child, h } from '../dom.ts';
import { date, dateAndTime } from '../format.ts';
import type { HistoryEntry, OrderData } from '../order-data.ts';
import { t } from '../texts/customers.ts';

const steps = ['pending', 'processing', 'shipped', 'delivered'] as const;

export function statusBadge(status: Order['status']): HTMLElement {
  return h('span', { class: `state ${status}` }, t.status[status]);
}

/** The steps to the customer, with the days of those that are done. A cancelled order has none ahead. */
export function progress({ order, history }: OrderData): HTMLElement | undefined {
  if (order.status === 'cancelled') return undefined;
  const reached = steps.indexOf(order.status);
  return h(
    'ol',
    { class: 'progress', 'aria-label': t.steps },
    steps.map((step, index) => {
      const at = history.find(({ status, cancelledLines }) => status === step && cancelledLines === undefined)?.at;
      const state = index < reached ? 'done' : index === reached ? 'now' : 'ahead';
      return h('li', { class: state, 'aria-current': index === reached && 'step' }, [
        h('span', {}, t.status[step]),
        at !== undefined && h('small', {}, date(at)),
      ]);
    }),
  );
}

interface Event {
  readonly at: string;
  readonly text: Child;
  readonly reason?: string | undefined;
}

/** What happened, the newest first. */
export function timeline({ order, history, returns }: OrderData): HTMLElement {
  const { paidAt } = order.payment ?? {};
  const events: Event[] = [
    ...history.map(eventOf),
    ...(paidAt === undefined ? [] : [{ at: paidAt, text: t.paymentArrived }]),
    ...returns.map(({ createdAt, lines }) => ({ at: createdAt, text: t.returnAsked(listed(lines)) })),
  ];
  const newest = events.toSorted((a, b) => b.at.localeCompare(a.at));
  return h(
    'ol',
    { class: 'timeline' },
    newest.map(({ at, text, reason }) =>
      h('li', {}, [
        h('span', { dir: 'auto' }, text),
        reason !== undefined && h('small', { dir: 'auto' }, t.because(reason)),
        h('time', { datetime: at }, dateAndTime(at)),
      ]),
    ),
  );
}

function eventOf({ status, at, by, cancelledLines, reason }: HistoryEntry): Event {
  if (cancelledLines !== undefined) return { at, reason, text: t.unitsCancelledBy[by](listed(cancelledLines)) };
  if (status === 'cancelled') return { at, reason, text: t.cancelledBy[by] };
  return { at, text: t.happened[status] };
}

function listed(lines: readonly { readonly name: string; readonly quantity: number }[]): string {
  return lines.map(({ name, quantity }) => `${quantity} × ${name}`).join(', ');
}
