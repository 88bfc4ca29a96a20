// Step `conflict-limit`: bounds the responses 409 of a caller. Each one shows that an e-mail address is registered.
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { clientNetwork } from '../entry/client-network.ts';
import type { GatewayRequest } from '../entry/gateway-request.ts';
import type { Step } from '../entry/policy.ts';
import type { ApiLimit } from './limit-config.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import { tooManyRequests } from './token-bucket.ts';

const windowSeconds = 60;

/** Applies `conflictsPerCaller` of each operation, for the account and for the client network. */
export function limitConflicts(store: RateLimitStore, { operations = {} }: ApiLimit): Step {
  const limits = new Map<string, ConflictLimit>();
  for (const [id, { conflictsPerCaller }] of Object.entries(operations)) {
    if (conflictsPerCaller !== undefined) limits.set(id, new ConflictLimit(store, id, conflictsPerCaller));
  }
  return (request) => {
    const limit = limits.get(request.operation?.operationId ?? '');
    if (limit === undefined) return undefined;
    const network = clientNetwork(request.client);
    const account = request.caller?.accountId;
    return limit.watch(account === undefined ? [network] : [account, network], request);
  };
}

class ConflictLimit {
  readonly #counter: RateLimiterAbstract;
  readonly #allowed: number;

  /** @param perMinute conflicts after which a caller has to wait */
  constructor(store: RateLimitStore, name: string, perMinute: number) {
    this.#counter = store.counter(`${name}:conflicts`, perMinute, windowSeconds);
    this.#allowed = perMinute;
  }

  /**
   * Has the response counted if it is a conflict, before it is sent. So the bound also holds for concurrent requests.
   * @param callers the account, if there is one, and the client network
   * @throws Problem 429 with `Retry-After` when one of the callers has reached the limit
   */
  async watch(callers: readonly string[], request: GatewayRequest): Promise<void> {
    for (const counted of await Promise.all(callers.map((caller) => this.#counter.get(caller)))) {
      if (counted !== null && counted.consumedPoints >= this.#allowed) throw tooManyRequests(secondsUntil(counted));
    }
    request.countConflict = async () => {
      for (const counted of await Promise.all(callers.map((caller) => this.#counter.penalty(caller)))) {
        if (counted.consumedPoints > this.#allowed) throw tooManyRequests(secondsUntil(counted));
      }
    };
  }
}

function secondsUntil({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1_000));
}
