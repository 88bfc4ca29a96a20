// Decides when a delivery that was not handled is retried, and when it becomes a dead letter.
import { consumers } from './consumers.ts';
import type { Topology, Verdict } from './transport.ts';

/** The topology of the shop: all consumers; six retries after 1, 2, 4, 8, 16 and 32 seconds. */
export const shopTopology: Topology = { consumers, retries: 6, retryDelay: 1 };

/** Returns the delay before each retry, in seconds. */
export function retryDelays({ retries, retryDelay }: Topology): number[] {
  return Array.from({ length: retries }, (_, index) => retryDelay * 2 ** index);
}

/**
 * Returns the delay in seconds and the number of the next attempt for a delivery that was not handled. Undefined when
 * it becomes a dead letter.
 * @param attempt the number of the last attempt, from 1
 */
export function nextTry(
  topology: Topology,
  attempt: number,
  kind: Exclude<Verdict['kind'], 'done'>,
): { readonly delay: number; readonly attempt: number } | undefined {
  const delays = retryDelays(topology);
  const delay = kind === 'failed' ? delays[attempt - 1] : kind === 'later' ? delays[0] : undefined;
  return delay === undefined ? undefined : { delay, attempt: kind === 'failed' ? attempt + 1 : attempt };
}
