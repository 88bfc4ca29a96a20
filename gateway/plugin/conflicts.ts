// Answers 409 that a caller got: each tells whether an e-mail address is registered, so that a caller gets only a few a minute.
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { tooMany } from './allowance.ts';
import type { Counters } from './counters.ts';
import type { GatewayRequest } from './exchange.ts';

const window = 60;

export class Conflicts {
  readonly #counter: RateLimiterAbstract;
  readonly #allowed: number;

  /** @param perMinute conflicts after which a caller has to wait */
  constructor(counters: Counters, name: string, perMinute: number) {
    this.#counter = counters.counter(`${name}:conflicts`, perMinute, window);
    this.#allowed = perMinute;
  }

  /**
   * Has the answer counted if it is a conflict, before it is passed on: of many concurrent requests no more get one.
   * @param callers the account, if there is one, and the network of the client
   * @throws Problem 429 with `Retry-After` when one of the callers has got too many conflicts
   */
  async watch(callers: readonly string[], request: GatewayRequest): Promise<void> {
    for (const counted of await Promise.all(callers.map((caller) => this.#counter.get(caller)))) {
      if (counted !== null && counted.consumedPoints >= this.#allowed) throw tooMany(secondsUntil(counted));
    }
    request.countConflict = async () => {
      for (const counted of await Promise.all(callers.map((caller) => this.#counter.penalty(caller)))) {
        if (counted.consumedPoints > this.#allowed) throw tooMany(secondsUntil(counted));
      }
    };
  }
}

function secondsUntil({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1_000));
}
