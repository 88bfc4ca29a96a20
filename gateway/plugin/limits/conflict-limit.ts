// Answers 409 that a caller got: each tells whether an e-mail address is registered, so that a caller gets only a few a minute.
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { GatewayResponse } from '../entry/gateway-request.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import { tooMany } from './token-bucket.ts';

const conflict = 409;
const window = 60;

export class ConflictLimit {
  readonly #counter: RateLimiterAbstract;
  readonly #allowed: number;

  /** @param perMinute conflicts after which a caller has to wait */
  constructor(counters: RateLimitStore, name: string, perMinute: number) {
    this.#counter = counters.counter(`${name}:conflicts`, perMinute, window);
    this.#allowed = perMinute;
  }

  /**
   * Counts the answer if it is a conflict. Concurrent requests are bounded by the rate of the operation.
   * @param callers the account, if there is one, and the network of the client
   * @throws Problem 429 with `Retry-After` when one of the callers has got too many conflicts
   */
  async watch(callers: readonly string[], response: GatewayResponse): Promise<void> {
    for (const counted of await Promise.all(callers.map((caller) => this.#counter.get(caller)))) {
      if (counted !== null && counted.consumedPoints >= this.#allowed)
        throw tooMany(Math.max(1, Math.ceil(counted.msBeforeNext / 1_000)));
    }
    response.once('finish', () => {
      if (response.statusCode !== conflict) return;
      for (const caller of callers) this.#counter.penalty(caller).catch(() => {});
    });
  }
}
