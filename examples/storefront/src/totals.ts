// The amounts of a cart or an order.
import type { Quote } from '@shop/client';
import { type Child, h } from './dom.ts';
import { money, number } from './format.ts';
import { t } from './texts.ts';

type Amounts = Pick<Quote, 'currency' | 'totalCost'> &
  Partial<Pick<Quote, 'shipping' | 'discounts' | 'taxes' | 'pricesIncludeTax' | 'taxExempt'>> & {
    readonly itemsSummary: readonly { readonly lineTotal: number }[];
  };

export function totals({
  itemsSummary,
  shipping,
  discounts = [],
  taxes = [],
  pricesIncludeTax,
  taxExempt,
  totalCost,
  currency,
}: Amounts): HTMLElement {
  const sum = itemsSummary.reduce((total, { lineTotal }) => total + lineTotal, 0);
  const row = (name: Child, amount: number, kind = ''): HTMLElement => {
    const shown = kind === 'free' && amount === 0 ? t.free : money(amount, currency);
    return h('div', { class: kind }, h('dt', { dir: 'auto' }, name), h('dd', {}, shown));
  };
  const tax = ({ name, rate }: { name: string; rate: number }): string => {
    const text = `${name} ${number(rate)} %`;
    return pricesIncludeTax ? t.including(text) : text;
  };
  return h('dl', { class: 'totals' }, [
    row(t.products, sum),
    discounts.map(({ name, code, amount }) => row(code === undefined ? name : `${name}: ${code}`, -amount, 'discount')),
    shipping && row(`${t.shipping}: ${shipping.name[t.language] ?? shipping.name.en ?? ''}`, shipping.price, 'free'),
    !pricesIncludeTax && taxes.map((each) => row(tax(each), each.amount)),
    row(t.total, totalCost, 'total'),
    pricesIncludeTax && taxes.map((each) => row(tax(each), each.amount, 'included')),
    taxExempt && h('div', { class: 'included' }, h('dt', {}, t.taxExempt)),
  ]);
}
