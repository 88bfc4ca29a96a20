// Step `refusal-limit`: limits the error responses that reveal information to a caller. A response 409 shows that an
// e-mail address is registered; a response 403 to a change of an account may be a guess at its password.

import { clientNetwork } from '@shop/shared/runtime';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { GatewayRequest } from '../entry/gateway-request.ts';
import type { Step } from '../entry/policy.ts';
import type { ApiLimit, OperationLimit } from './limit-config.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import { tooManyRequests } from './token-bucket.ts';

const windowSeconds = 60;

/** Applies `conflictsPerCaller` and `forbiddenPerAccount` of each operation. */
export function limitRefusals(store: RateLimitStore, { operations = {} }: ApiLimit): Step {
  const limits = new Map<string, readonly RefusalLimit[]>();
  for (const [id, own] of Object.entries(operations)) {
    const bounds = boundsOf(store, id, own);
    if (bounds.length > 0) limits.set(id, bounds);
  }
  return (request) => {
    const bounds = limits.get(request.operation?.operationId ?? '');
    return bounds && watch(bounds, request);
  };
}

function boundsOf(store: RateLimitStore, id: string, limit: OperationLimit): RefusalLimit[] {
  const { conflictsPerCaller, forbiddenPerAccount } = limit;
  const bounds: RefusalLimit[] = [];
  if (conflictsPerCaller !== undefined) {
    const counter = store.counter(`${id}:conflicts`, conflictsPerCaller, windowSeconds);
    bounds.push(
      new RefusalLimit(409, conflictsPerCaller, counter, ({ client, caller }) => [
        ...(caller === undefined ? [] : [caller.accountId]),
        clientNetwork(client),
      ]),
    );
  }
  if (forbiddenPerAccount !== undefined) {
    const counter = store.counter(`${id}:forbidden`, forbiddenPerAccount, windowSeconds);
    bounds.push(
      new RefusalLimit(403, forbiddenPerAccount, counter, ({ caller }) =>
        caller === undefined ? [] : [caller.accountId],
      ),
    );
  }
  return bounds;
}

/**
 * Counts an error response before it is sent, so that the limits also apply to concurrent requests.
 * @throws Problem 429 with `Retry-After` when a limit is reached
 */
async function watch(bounds: readonly RefusalLimit[], request: GatewayRequest): Promise<void> {
  for (const bound of bounds) await bound.check(request);
  request.countRefusal = (status) => bounds.find((bound) => bound.status === status)?.count(request);
}

class RefusalLimit {
  /** The status of the responses that are counted. */
  readonly status: number;
  readonly #allowed: number;
  readonly #counter: RateLimiterAbstract;
  readonly #keysOf: (request: GatewayRequest) => string[];

  /**
   * @param allowed responses a minute after which a caller has to wait
   * @param keysOf the account or the client network of a request, each of which is counted
   */
  constructor(
    status: number,
    allowed: number,
    counter: RateLimiterAbstract,
    keysOf: (request: GatewayRequest) => string[],
  ) {
    this.status = status;
    this.#allowed = allowed;
    this.#counter = counter;
    this.#keysOf = keysOf;
  }

  /** @throws Problem 429 when one of the callers has reached the bound */
  async check(request: GatewayRequest): Promise<void> {
    for (const counted of await Promise.all(this.#keysOf(request).map((key) => this.#counter.get(key)))) {
      if (counted !== null && counted.consumedPoints >= this.#allowed) throw tooManyRequests(secondsUntil(counted));
    }
  }

  /** @throws Problem 429 when the response exceeds the bound */
  async count(request: GatewayRequest): Promise<void> {
    for (const counted of await Promise.all(this.#keysOf(request).map((key) => this.#counter.penalty(key)))) {
      if (counted.consumedPoints > this.#allowed) throw tooManyRequests(secondsUntil(counted));
    }
  }
}

function secondsUntil({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1_000));
}
