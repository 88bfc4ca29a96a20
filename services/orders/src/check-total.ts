// Compares the total of an order with the total that the client expected, in exact minor units.

import { nodeOf, refuseFaults } from '@shop/shared/contract';
import type { OperationRequest } from '@shop/shared/http';
import { type Fault, Problem } from '@shop/shared/problem';
import type { Orders } from './order.ts';
import type { NewOrder } from './place-order.ts';

/** The maximum total of an order in minor units, within the safe integers. */
const maximumTotal = 999_999_999_999_999n;

/**
 * The expected total in minor units; undefined when the request states none.
 * @throws Problem 400 with every fault of the request, such as an expected total with too many decimals
 */
export function readExpectedTotal({ body, faults }: OperationRequest, { money }: Orders): bigint | undefined {
  const { expectedTotal } = nodeOf(body);
  const minor = money.fromJson(expectedTotal);
  const isRead = expectedTotal === undefined || typeof minor === 'number';
  refuseFaults(faults, isRead ? [] : [{ pointer: '/expectedTotal', detail: `must be ${money.expects}` }]);
  return typeof minor === 'number' ? BigInt(minor) : undefined;
}

/** The problem with the total; undefined when the total is accepted. */
export function checkTotal(order: NewOrder, expected: bigint | undefined, orders: Orders): Problem | undefined {
  if (order.totalMinor > maximumTotal) {
    const detail = 'cost more together than one order may';
    return new Problem('invalid-request', `The items ${detail}.`, { errors: [{ pointer: '/items', detail }] });
  }
  if (expected === undefined || expected === order.totalMinor) return undefined;
  const major = (minor: bigint) => orders.money.toJson(Number(minor));
  const [from, to] = [major(expected), major(order.totalMinor)];
  const total: Fault = {
    pointer: '/expectedTotal',
    detail: `is ${from}, but the order costs ${to}`,
    old: from,
    new: to,
  };
  const lines = order.lines.flatMap((line) =>
    line.positions.map((position): Fault => {
      // The expected price of a single product follows from the total. Of several products only the new prices are
      // known.
      const quantity = BigInt(line.quantity);
      const known = order.lines.length === 1 && expected % quantity === 0n;
      const unitPrice = major(BigInt(line.unitPriceMinor));
      return {
        pointer: `/items/${position}`,
        detail: `costs ${unitPrice} each`,
        productId: line.productId,
        ...(known ? { old: major(expected / quantity) } : {}),
        new: unitPrice,
      };
    }),
  );
  return new Problem('price-changed', `The order costs ${to}, not ${from}. Nothing was ordered.`, {
    errors: [total, ...lines],
  });
}
