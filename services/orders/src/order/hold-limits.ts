// Limits on the unprocessed orders of one account. The catalogue applies them when it reserves the stock.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '@shop/shared/auth';
import type { Database } from '@shop/shared/database';
import { type Fault, Problem } from '@shop/shared/problem';
import { forwardedNetwork } from '@shop/shared/runtime';

type Bound = 'orders' | 'units';

/** The client network of an unverified account, and the maximum that all such accounts in it may reserve. */
export interface NetworkHold {
  readonly network: string;
  readonly units: number;
}

/** The limits of an account with a verified e-mail address and no delivered order; 0 for no limit. */
export type HoldSettings = Readonly<Record<Bound, number>>;

/** At least one limit, each at least 1. */
export type HoldLimits = Readonly<Partial<Record<Bound, number>>>;

/** An account without a verified e-mail address has a fifth of the limits. */
const unverifiedShare = 5;
/** Each delivered order raises the limits by a tenth, until they are ten times as high. */
const deliveredShare = 10;
const maximumDelivered = 90;
/** The maximum number of an account's newest orders that are counted. */
const newest = 1_000;

/**
 * Returns the limits of an account; undefined when it has none.
 * @param delivered the number of its delivered orders
 */
export function toHoldLimits(
  settings: HoldSettings,
  { emailVerified }: Pick<Caller, 'emailVerified'>,
  delivered: number,
): HoldLimits | undefined {
  const share = emailVerified ? 1 : unverifiedShare;
  const raised = deliveredShare + Math.min(delivered, maximumDelivered);
  const limits = (['orders', 'units'] as const)
    .filter((bound) => settings[bound] > 0)
    .map((bound) => [bound, Math.max(1, Math.floor((settings[bound] * raised) / (deliveredShare * share)))]);
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/**
 * Returns undefined for an account with a verified e-mail address, without a limit, and for a request that did not pass
 * the gateway. The catalogue gets a digest, so that it stores no address of a customer.
 */
export function toNetworkHold(
  units: number,
  { emailVerified }: Pick<Caller, 'emailVerified'>,
  headers: IncomingHttpHeaders,
  secret: string,
): NetworkHold | undefined {
  const network = forwardedNetwork(headers);
  if (emailVerified || units === 0 || network === undefined) return undefined;
  return { network: createHmac('sha256', secret).update(`client network ${network}`).digest('base64url'), units };
}

/** Returns the number of delivered orders among the newest 1,000 of an account. */
export async function countDelivered({ pool }: Database, accountId: string): Promise<number> {
  const { rows } = await pool.query<{ delivered: number }>({
    name: 'count-delivered',
    text: `SELECT count(*) FILTER (WHERE status = 'delivered')::int AS delivered
           FROM (
             SELECT status FROM orders WHERE account_id = $1 ORDER BY created_at DESC LIMIT ${newest}
           ) AS newest`,
    values: [accountId],
  });
  return rows[0]?.delivered ?? 0;
}

/** Converts the error response for a reservation into the problem for the order. */
export function holdRefusal(faults: readonly Fault[], { emailVerified }: Caller): Problem {
  const detail = [
    ...faults.map(explain),
    'Nothing was ordered. Order again when such an order is processed or cancelled, or order less.',
    ...(emailVerified ? [] : ['The limits are higher once the e-mail address is verified, with a new access token.']),
  ];
  return new Problem('hold-limit', detail.join(' '), {
    errors: faults.map((fault) => ({ ...fault, pointer: '/items' })),
  });
}

function explain({ pointer, bound, limit, held, requested }: Fault): string {
  if (pointer?.startsWith('/networkHold') === true) {
    return (
      `Of units in orders that are not processed yet, the accounts in this network without a verified e-mail address ` +
      `have ${held} and this order ${requested} more, and at most ${limit} are permitted.`
    );
  }
  return bound === 'orders'
    ? `Of orders that are not processed yet, this account has ${held}, and at most ${limit} are permitted.`
    : `Of units in orders that are not processed yet, this account has ${held} and this order ${requested} more, ` +
        `and at most ${limit} are permitted.`;
}
