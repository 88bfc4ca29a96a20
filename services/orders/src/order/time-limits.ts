// The fraction of the time limits of an order that applies to its customer.
import type { Caller } from '@shop/shared/auth';

/** An order of an account without a verified e-mail address is due, or expires, after a quarter of the time. */
export const unverifiedTimeShare = 0.25;

/** Returns the fraction of the usual time within which an order has to be paid. */
export function findTimeShare({ emailVerified }: Pick<Caller, 'emailVerified'>): number {
  return emailVerified ? 1 : unverifiedTimeShare;
}
