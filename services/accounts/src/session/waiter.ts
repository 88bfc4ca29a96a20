// The client that waits for a hash of a password.
import type { OperationRequest } from '@shop/shared/http';
import { clientNetwork } from '@shop/shared/runtime';
import { parseSessionClient } from '../account/session-client.ts';
import type { Waiter } from './semaphore.ts';

/** The milliseconds of a request without a deadline, and the reserved milliseconds for the work after the hash. */
const [withoutDeadline, reserve] = [30_000, 1_000];

/**
 * Returns the limits of a client that waits for a hash. The gateway sends the remaining time of the request.
 * @param isKnown whether the client has proved before that it belongs to the account
 */
export function toWaiter({ headers, signal }: OperationRequest, isKnown: boolean): Waiter {
  const left = Number(headers['request-timeout-ms'] ?? withoutDeadline);
  const maximumWait = Number.isFinite(left) ? Math.max(0, left - reserve) : withoutDeadline;
  return { network: clientNetwork(parseSessionClient(headers).address ?? ''), isKnown, maximumWait, signal };
}
