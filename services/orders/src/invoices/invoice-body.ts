// The content of an invoice or a credit note, from the pricing of its order.
import type { LockedOrder, Orders } from '../order/order.ts';
import { hasUnits, type OrderLine, toUnits } from '../order/order-lines.ts';
import { toItems, toPrices } from '../order/order-prices.ts';
import { totalsAfterReturns, totalsOfOrder } from '../order/order-totals.ts';
import type { Amounts, Totals } from '../pricing/pricing.ts';
import type { InvoiceBody } from './invoice.ts';

type Sums = Omit<InvoiceBody, 'seller' | 'buyer' | 'orderId' | 'orderedAt' | 'invoiceNumber' | 'returnId'>;

const reverseCharge = 'Reverse charge: the customer owes the tax.';

/** Returns the sums of the units that ship. */
export function sumsOfShipment(orders: Orders, order: LockedOrder, lines: readonly OrderLine[]): Sums {
  return toSums(orders, order, lines, totalsOfOrder(order, lines).totals);
}

/** Returns the sums of the units that came back between two states of the lines: the difference of their totals. */
export function sumsOfReturn(orders: Orders, order: LockedOrder, { before, after, keepShipping }: ReturnedLines): Sums {
  const left = (lines: readonly OrderLine[]): Totals => totalsAfterReturns(order, lines, keepShipping);
  const returned = before.map((line, index) => {
    const quantity = (after[index]?.returnedQuantity ?? line.returnedQuantity) - line.returnedQuantity;
    return { ...line, quantity };
  });
  return toSums(orders, order, returned, difference(left(before), left(after)));
}

export interface ReturnedLines {
  readonly before: readonly OrderLine[];
  readonly after: readonly OrderLine[];
  /** Whether the price of shipping is kept when everything that was sent comes back. */
  readonly keepShipping: boolean;
}

/** @param lines all lines of the order, with the units of the document */
function toSums(orders: Orders, { pricing }: LockedOrder, lines: readonly OrderLine[], totals: Totals): Sums {
  const priced = pricing === null ? undefined : { pricing, totals };
  const shown = lines.map((line) => ({ ...toUnits(line), returnedQuantity: 0 }));
  return {
    lines: toItems(orders, { lines: shown, priced }).filter(hasUnits),
    ...toPrices(orders, { priced }),
    total: Number(orders.money.toJson(totals.totalMinor)),
    currency: orders.currency,
    ...(pricing?.isTaxExempt && { note: reverseCharge }),
  };
}

function difference(before: Totals, after: Totals): Totals {
  const shipping = before.shipping && less(before.shipping, after.shipping);
  return {
    lines: before.lines.map((line, index) => {
      const left = after.lines[index];
      return { ...less(line, left), quantity: line.quantity - (left?.quantity ?? 0) };
    }),
    // Shipping that is kept is no part of the document.
    ...(shipping && after.shipping === undefined && { shipping }),
    discountsMinor: before.discountsMinor.map((amount, index) => amount - (after.discountsMinor[index] ?? 0)),
    taxes: before.taxes.map(({ baseMinor, amountMinor }, index) => {
      const left = after.taxes[index];
      return { baseMinor: baseMinor - (left?.baseMinor ?? 0), amountMinor: amountMinor - (left?.amountMinor ?? 0) };
    }),
    exemptionMinor: before.exemptionMinor - after.exemptionMinor,
    totalMinor: before.totalMinor - after.totalMinor,
  };
}

const nothing: Amounts = { priceMinor: 0, discountMinor: 0, taxMinor: 0, totalMinor: 0 };

function less(before: Amounts, after: Amounts = nothing): Amounts {
  return {
    priceMinor: before.priceMinor - after.priceMinor,
    discountMinor: before.discountMinor - after.discountMinor,
    taxMinor: before.taxMinor - after.taxMinor,
    totalMinor: before.totalMinor - after.totalMinor,
  };
}
