// Compares the prices of an order with those that the client expected, in exact minor units.

import { refuseFaults, toNode } from '@shop/shared/contract';
import type { OperationRequest } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import type { Orders } from './order.ts';
import type { NewOrder } from './place-order.ts';

/** Prices in minor units; undefined where the request has none. */
export interface ExpectedPrices {
  readonly total: number | undefined;
  /** The prices of single units, by the position of their item in the request. */
  readonly units: readonly (number | undefined)[];
}

/** @throws Problem 400 with every fault of the request, such as an expected price with too many decimals */
export function readExpectedPrices({ body, faults }: OperationRequest, { money }: Orders): ExpectedPrices {
  const found: Fault[] = [];
  const read = (value: unknown, pointer: string): number | undefined => {
    const minor = money.fromJson(value);
    if (value !== undefined && typeof minor !== 'number') found.push({ pointer, detail: `must be ${money.expects}` });
    return typeof minor === 'number' ? minor : undefined;
  };
  const { expectedTotal, items } = toNode(body);
  const total = read(expectedTotal, '/expectedTotal');
  const units = (Array.isArray(items) ? items : []).map((item: unknown, index) =>
    read(toNode(item).expectedUnitPrice, `/items/${index}/expectedUnitPrice`),
  );
  refuseFaults(faults, found);
  return { total, units };
}

/** Returns the problem with the total or with prices of lines; undefined when all match. */
export function checkPrices(order: NewOrder, expected: ExpectedPrices, orders: Orders): Problem | undefined {
  const total = Number(order.totalMinor);
  const isOtherTotal = expected.total !== undefined && expected.total !== total;
  const lines = lineFaults(order, expected, orders, isOtherTotal);
  if (!isOtherTotal) {
    if (lines.length === 0) return undefined;
    const detail = 'Not every product has the expected price. Nothing was ordered.';
    return new Problem('price-changed', detail, { errors: lines });
  }
  const { old, now, change } = comparison(expected.total, total, orders);
  return new Problem('price-changed', `The order costs ${now}, not ${old}. Nothing was ordered.`, {
    errors: [{ pointer: '/expectedTotal', detail: `is ${old}, but the order costs ${now}`, ...change }, ...lines],
  });
}

/**
 * Returns the items with an expected price that differs from the present one. If the total differs, the items without
 * an expected price are included.
 */
function lineFaults(order: NewOrder, expected: ExpectedPrices, orders: Orders, isOtherTotal: boolean): Fault[] {
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
      // When the order has a single product, its expected price follows from the total.
      const { total = 0 } = expected;
      const implied = order.lines.length === 1 && total % quantity === 0 ? total / quantity : undefined;
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
