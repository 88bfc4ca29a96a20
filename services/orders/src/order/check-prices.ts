// Compares the prices of an order with those that the client expected, in exact minor units.

import { refuseFaults, toNode } from '@shop/shared/contract';
import type { OperationRequest } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import type { OrdersContext } from '../context.ts';
import type { Orders } from './order.ts';
import { isQuoteOf, openQuote, partsOf, type QuotableOrder, type Quote } from './quote.ts';
import { type OrderInput, toWantedLines } from './stock-reservation.ts';

/** Prices in minor units; undefined where the request has none. */
export interface ExpectedPrices {
  readonly total: number | undefined;
  /** The prices of single units, by the position of their item in the request. */
  readonly units: readonly (number | undefined)[];
  /** `unknown`: the request has a quote that the shop cannot read. */
  readonly quote: Quote | 'unknown' | undefined;
}

/** @throws Problem 400 with every fault of the request, such as an expected price with too many decimals */
export function readExpectedPrices(
  { body, faults }: OperationRequest,
  { orders: { money }, quotes }: Pick<OrdersContext, 'orders' | 'quotes'>,
): ExpectedPrices {
  const found: Fault[] = [];
  const read = (value: unknown, pointer: string): number | undefined => {
    const minor = money.fromJson(value);
    if (value !== undefined && typeof minor !== 'number') found.push({ pointer, detail: `must be ${money.expects}` });
    return typeof minor === 'number' ? minor : undefined;
  };
  const { expectedTotal, items, quote: text } = toNode(body);
  const total = read(expectedTotal, '/expectedTotal');
  const given = Array.isArray(items) ? items : [];
  const units = given.map((item: unknown, index) =>
    read(toNode(item).expectedUnitPrice, `/items/${index}/expectedUnitPrice`),
  );
  refuseFaults(faults, found);
  if (text === undefined) return { total, units, quote: undefined };
  const quote = openQuote(quotes, String(text));
  if (quote === undefined) return { total, units, quote: 'unknown' };
  const lines = toWantedLines(body as OrderInput);
  if (!isQuoteOf(quote, lines)) refuseFaults([], [{ pointer: '/quote', detail: 'is the quote of other items' }]);
  for (const [index, { positions }] of lines.entries())
    for (const position of positions) units[position] ??= quote.unitsMinor[index];
  return { total: total ?? quote.totalMinor, units, quote };
}

/** Returns the problem with the total or with prices of lines; undefined when all match. */
export function checkPrices(order: QuotableOrder, expected: ExpectedPrices, orders: Orders): Problem | undefined {
  const { quote } = expected;
  if (quote === 'unknown') {
    return new Problem('quote-expired', 'The quote is not valid, or no longer. Nothing was ordered.', {
      errors: [{ pointer: '/quote', detail: 'is no quote of this shop' }],
    });
  }
  if (quote !== undefined && Date.now() > Date.parse(quote.validUntil)) {
    return new Problem('quote-expired', `The quote was valid until ${quote.validUntil}. Nothing was ordered.`, {
      errors: [{ pointer: '/quote', detail: `was valid until ${quote.validUntil}` }],
    });
  }
  const total = order.totalMinor;
  const isOtherTotal = expected.total !== undefined && expected.total !== total;
  const faults = [...lineFaults(order, expected, orders, isOtherTotal), ...partFaults(order, quote, orders)];
  if (!isOtherTotal) {
    if (faults.length === 0) return undefined;
    const detail = 'Not every product has the expected price. Nothing was ordered.';
    return new Problem('price-changed', detail, { errors: faults });
  }
  const { old, now, change } = comparison(expected.total, total, orders);
  const pointer = quote === undefined ? '/expectedTotal' : '/quote';
  return new Problem('price-changed', `The order costs ${now}, not ${old}. Nothing was ordered.`, {
    errors: [{ pointer, detail: `is ${old}, but the order costs ${now}`, ...change }, ...faults],
  });
}

/** Returns what differs from a quote beside the prices of lines. */
function partFaults({ priced }: QuotableOrder, quote: Quote | undefined, orders: Orders): Fault[] {
  if (quote === undefined) return [];
  const parts = partsOf(priced);
  return (['shipping', 'discount', 'tax'] as const).flatMap((part): Fault[] => {
    if (parts[part] === quote.parts[part]) return [];
    const { old, now, change } = comparison(quote.parts[part], parts[part], orders);
    return [{ pointer: '/quote', detail: `has ${part} of ${old}, which is now ${now}`, part, ...change }];
  });
}

/**
 * Returns the items with an expected price that differs from the present one. If the total differs, the items without
 * an expected price are included.
 */
function lineFaults(order: QuotableOrder, expected: ExpectedPrices, orders: Orders, isOtherTotal: boolean): Fault[] {
  return order.lines.flatMap(({ positions, productId, quantity, unitPriceMinor }) =>
    positions.flatMap((position): Fault[] => {
      const at = { pointer: `/items/${position}`, productId };
      const stated = expected.units[position];
      if (stated !== undefined) {
        if (stated === unitPriceMinor) return [];
        const { old, now, change } = comparison(stated, unitPriceMinor, orders);
        return [{ ...at, detail: `is expected to cost ${old} each, but costs ${now}`, ...change }];
      }
      if (!isOtherTotal) return [];
      // When the order is only the price of a single product, its expected price follows from the total.
      const { total = 0 } = expected;
      const isPlain = order.lines.length === 1 && order.priced === undefined;
      const implied = isPlain && total % quantity === 0 ? total / quantity : undefined;
      const { now, change } = comparison(implied, unitPriceMinor, orders);
      return [{ ...at, detail: `costs ${now} each`, ...change }];
    }),
  );
}

/** Returns both prices as strings with the decimals of the currency, for the members `old` and `new` of a fault. */
function comparison(old: number | undefined, now: number, { money }: Orders) {
  return {
    old: old === undefined ? '' : money.toText(old),
    now: money.toText(now),
    change: { ...(old === undefined ? {} : { old: money.toJson(old) }), new: money.toJson(now) },
  };
}
