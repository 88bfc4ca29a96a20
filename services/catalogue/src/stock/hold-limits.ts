// What accounts and client networks reserve in orders that nobody has begun to process, and their limits.
import type { components } from '../generated.ts';
import type { WantedLine } from './order-line.ts';

type HoldFault = components['schemas']['HoldFault'];

/** A wanted reservation with the limits of its account. */
export type LimitedHold = Pick<components['schemas']['NewReservation'], 'holdLimits' | 'networkHold' | 'lines'> & {
  readonly accountId: string;
};

export interface Held {
  readonly orders: number;
  readonly units: number;
}

export function sumOf(lines: readonly WantedLine[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Returns every limit that a reservation would exceed, with the amount that is reserved at present. */
export async function findHoldFaults(
  read: (text: string, values: readonly string[]) => Promise<readonly Held[]>,
  { accountId, lines, holdLimits = {}, networkHold }: LimitedHold,
): Promise<HoldFault[]> {
  const ofAccount = await read('SELECT orders, units FROM account_holds WHERE account_id = $1', [accountId]);
  const held = ofAccount[0] ?? { orders: 0, units: 0 };
  const requested = { orders: 1, units: sumOf(lines) };
  const faults = (['orders', 'units'] as const).flatMap((bound): HoldFault[] => {
    const limit = holdLimits[bound];
    if (limit === undefined || held[bound] + requested[bound] <= limit) return [];
    const detail = `${held[bound]} are held, ${requested[bound]} requested, and the limit is ${limit}`;
    return [{ pointer: `/holdLimits/${bound}`, detail, bound, limit, held: held[bound], requested: requested[bound] }];
  });
  if (networkHold === undefined) return faults;
  const { network, units: limit } = networkHold;
  const ofNetwork = await read('SELECT 0 AS orders, units FROM network_holds WHERE network = $1', [network]);
  const units = ofNetwork[0]?.units ?? 0;
  if (units + requested.units <= limit) return faults;
  const detail = `${units} are held in the network, ${requested.units} requested, and the limit is ${limit}`;
  return [
    ...faults,
    { pointer: '/networkHold/units', detail, bound: 'units', limit, held: units, requested: requested.units },
  ];
}
