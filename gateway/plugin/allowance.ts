// How much a caller may still ask for: a steady rate and a reserve for bursts, and what the answer says about them.
import { Problem } from '@shop/shared/protocol';
import { outsideRequests } from '@shop/shared/runtime';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Counters } from './counters.ts';
import type { GatewayRequest } from './exchange.ts';

/** `steady` requests within `seconds`; what goes beyond is taken from `reserve` requests within `reserveSeconds`. */
export interface Rate {
  readonly steady: number;
  readonly seconds: number;
  readonly reserve?: number;
  readonly reserveSeconds?: number;
}

interface Bucket {
  readonly name: string;
  readonly points: number;
  readonly counter: RateLimiterAbstract;
}

/** The token bucket of one operation; every caller has its own. */
export class Allowance {
  readonly #buckets: readonly Bucket[];
  /** `RateLimit-Policy` as the IETF draft writes it: quota and window of each bucket. */
  readonly #policy: string;

  constructor(counters: Counters, name: string, { steady, seconds, reserve, reserveSeconds }: Rate) {
    const sizes = [
      { name: 'steady', points: steady, window: seconds },
      ...(reserve === undefined ? [] : [{ name: 'reserve', points: reserve, window: reserveSeconds ?? seconds }]),
    ];
    this.#buckets = sizes.map(({ name: size, points, window }) => ({
      name: size,
      points,
      counter: counters.counter(`${name}:${size}`, points, window),
    }));
    this.#policy = sizes.map(({ name: size, points, window }) => `"${size}";q=${points};w=${window}`).join(', ');
  }

  /**
   * Takes one request out of the first bucket that has one, and says in the answer's header fields what is left.
   * @throws Problem 429 with `Retry-After` when all are empty
   */
  async take(request: GatewayRequest, key: string): Promise<void> {
    for (const { name, counter } of this.#buckets) {
      const left = await consume(counter, key);
      const last = name === this.#buckets.at(-1)?.name;
      if (left.allowed || last) {
        const state = [`"${name}"`, `r=${left.remaining}`, `t=${left.seconds}`].join(';');
        request.answerHeaders = request.answerHeaders.concat('RateLimit-Policy', this.#policy, 'RateLimit', state);
      }
      if (left.allowed) return;
      if (last) throw tooMany(left.seconds);
    }
  }
}

interface Left {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the window begins again. */
  readonly seconds: number;
}

async function consume(counter: RateLimiterAbstract, key: string): Promise<Left> {
  // A count outlives its request. The library rejects with the same kind of value that it resolves with; anything else is a
  // failure.
  const result = await outsideRequests(() => counter.consume(key)).then(
    (state) => ({ allowed: true, state }),
    (state: unknown) => ({ allowed: false, state }),
  );
  if (!(result.state instanceof RateLimiterRes)) throw result.state;
  const { remainingPoints, msBeforeNext } = result.state;
  return { allowed: result.allowed, remaining: remainingPoints, seconds: Math.max(1, Math.ceil(msBeforeNext / 1_000)) };
}

/** @param seconds until it is worth trying again */
export function tooMany(seconds: number): Problem {
  const headers = { 'Retry-After': String(seconds) };
  return new Problem('too-many-requests', `Too many requests; wait ${seconds} s.`, { headers });
}
