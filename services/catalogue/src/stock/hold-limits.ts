// What accounts and client networks reserve in orders that nobody has begun to process, and their limits.
import type { components } from '../generated.ts';
import type { WantedLine } from './order-line.ts';

type HoldFault = components['schemas']['HoldFault'];

/** A wanted reservation with the limits of its account. */
export type LimitedHold = Pick<components['schemas']['NewReservation'], 'holdLimits' | 'networkHold' | 'lines'>;

export interface Held {
  readonly orders: number;
  readonly units: number;
  /** The units of the client network. */
  readonly networkUnits: number;
}

/** Returns the columns of `Held` in a SELECT list, each a subquery. The parameters may be NULL. */
export function heldColumns(account: `$${number}`, network: `$${number}`): string {
  const ofAccount = (column: string) => `(SELECT ${column} FROM account_holds WHERE account_id = ${account}::uuid)`;
  const ofNetwork = `(SELECT units FROM network_holds WHERE network = ${network}::text)`;
  return `coalesce(${ofAccount('orders')}, 0) AS orders, coalesce(${ofAccount('units')}, 0) AS units,
    coalesce(${ofNetwork}, 0) AS "networkUnits"`;
}

export function sumOf(lines: readonly WantedLine[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Returns every limit that a reservation would exceed, with the amount that is reserved at present. */
export function findHoldFaults(held: Held, { lines, holdLimits = {}, networkHold }: LimitedHold): HoldFault[] {
  const requested = { orders: 1, units: sumOf(lines) };
  const faults = (['orders', 'units'] as const).flatMap((bound): HoldFault[] => {
    const limit = holdLimits[bound];
    if (limit === undefined || held[bound] + requested[bound] <= limit) return [];
    const detail = `${held[bound]} are held, ${requested[bound]} requested, and the limit is ${limit}`;
    return [{ pointer: `/holdLimits/${bound}`, detail, bound, limit, held: held[bound], requested: requested[bound] }];
  });
  if (networkHold === undefined || held.networkUnits + requested.units <= networkHold.units) return faults;
  const { networkUnits } = held;
  const { units: limit } = networkHold;
  const detail = `${networkUnits} are held in the network, ${requested.units} requested, and the limit is ${limit}`;
  const figures = { bound: 'units' as const, limit, held: networkUnits, requested: requested.units };
  return [...faults, { pointer: '/networkHold/units', detail, ...figures }];
}
