// The limits of one order that depend on its prices. Limits of the request itself are in the contract.
import { Problem } from '@shop/shared/problem';
import type { NewOrder } from './place-order.ts';

/** The maximum total of an order in minor units, within the safe integers. */
const maximumTotal = 999_999_999_999_999n;

/** Returns the problem of an order that exceeds a limit; undefined when it exceeds none. */
export function checkLimits(order: NewOrder): Problem | undefined {
  if (order.totalMinor <= maximumTotal) return undefined;
  const detail = 'cost more together than one order may';
  return new Problem('invalid-request', `The items ${detail}.`, { errors: [{ pointer: '/items', detail }] });
}
