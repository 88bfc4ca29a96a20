// Limits how many codes of discounts a client can guess.
import type { OperationRequest } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { forwardedNetwork } from '@shop/shared/runtime';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

const guesses = new RateLimiterMemory({ points: 20, duration: 600 });

/**
 * Counts a code that does not exist, for the account or else for the client's network.
 * @throws Problem 429 after 20 of them within 10 minutes
 */
export async function countGuess({ caller, headers }: OperationRequest): Promise<void> {
  const key = caller?.accountId ?? forwardedNetwork(headers) ?? 'unknown';
  try {
    await guesses.consume(key);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw new Problem('too-many-requests', 'Too many discount codes that do not exist were tried. Try again later.', {
      headers: { 'Retry-After': String(Math.max(1, Math.ceil(error.msBeforeNext / 1_000))) },
    });
  }
}
