// The token bucket of a rate limit: a steady rate, a reserve for bursts, and the RateLimit header fields of the
// response.
import { Problem } from '@shop/shared/problem';
import { outsideRequests } from '@shop/shared/runtime';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { GatewayRequest } from '../entry/gateway-request.ts';
import type { RateLimitStore } from './rate-limit-store.ts';

/** `steady` requests within `seconds`. Further requests are taken from `reserve` requests within `reserveSeconds`. */
export interface Rate {
  readonly steady: number;
  readonly seconds: number;
  readonly reserve?: number;
  readonly reserveSeconds?: number;
  /**
   * All accounts of one client network together get at most this many times the steady rate. Without it, their number
   * is not bounded.
   */
  readonly accountsPerAddress?: number;
}

interface Quota {
  readonly name: string;
  readonly points: number;
  readonly counter: RateLimiterAbstract;
}

/**
 * The token bucket of one operation. Each caller has its own; the accounts of one client network share a further one.
 */
export class TokenBucket {
  readonly #quotas: readonly Quota[];
  readonly #shared: Quota | undefined = undefined;
  /** `RateLimit-Policy` as the IETF draft defines it: quota and window of each part of the bucket. */
  readonly #policy: string;
  readonly #accountPolicy: string = '';

  constructor(store: RateLimitStore, name: string, rate: Rate) {
    const { steady, seconds, reserve, reserveSeconds, accountsPerAddress } = rate;
    const sizes = [
      { name: 'steady', points: steady, window: seconds },
      ...(reserve === undefined ? [] : [{ name: 'reserve', points: reserve, window: reserveSeconds ?? seconds }]),
    ];
    const open = ({ name: size, points, window }: (typeof sizes)[number]): Quota => ({
      name: size,
      points,
      counter: store.counter(`${name}:${size}`, points, window),
    });
    const policyOf = ({ name: size, points, window }: (typeof sizes)[number]) => `"${size}";q=${points};w=${window}`;
    this.#quotas = sizes.map(open);
    this.#policy = sizes.map(policyOf).join(', ');
    if (accountsPerAddress === undefined) return;
    const shared = { name: 'address', points: accountsPerAddress * steady, window: seconds };
    this.#shared = open(shared);
    this.#accountPolicy = `${this.#policy}, ${policyOf(shared)}`;
  }

  /**
   * Takes one request from the first quota that has one left, and adds the RateLimit header fields to the response.
   * @param network of the client
   * @param account of the caller, if known: it has separate quotas, and shares one with the accounts of its network
   * @throws Problem 429 with `Retry-After` when every quota is used up
   */
  async take(request: GatewayRequest, network: string, account?: string): Promise<void> {
    const shared = account === undefined ? undefined : this.#shared;
    // Both quotas are checked concurrently, because each check is a round trip to Redis.
    const [own, ofNetwork] = await Promise.all([
      this.#takeOwn(account ?? network),
      shared === undefined ? undefined : consume(shared, network),
    ]);
    // One account that is rejected must not use up the quota of the others.
    if (!own.allowed && shared !== undefined) await outsideRequests(() => shared.counter.reward(network));
    const { allowed, quota, remaining, seconds } = own.allowed && ofNetwork?.allowed === false ? ofNetwork : own;
    const policy = shared === undefined ? this.#policy : this.#accountPolicy;
    const state = [`"${quota}"`, `r=${remaining}`, `t=${seconds}`].join(';');
    request.responseHeaders = request.responseHeaders.concat('RateLimit-Policy', policy, 'RateLimit', state);
    if (!allowed) throw tooManyRequests(seconds);
  }

  async #takeOwn(key: string): Promise<Taken> {
    let taken: Taken = { allowed: false, quota: '', remaining: 0, seconds: 1 };
    for (const quota of this.#quotas) {
      taken = await consume(quota, key);
      if (taken.allowed) break;
    }
    return taken;
  }
}

interface Taken {
  readonly allowed: boolean;
  readonly quota: string;
  readonly remaining: number;
  /** Seconds until the next window begins. */
  readonly seconds: number;
}

async function consume({ name, counter }: Quota, key: string): Promise<Taken> {
  // The counter outlives the request, so it must not retain the request's context. The library resolves and rejects
  // with the same type; a rejection with any other value is a failure.
  const result = await outsideRequests(() => counter.consume(key)).then(
    (state) => ({ allowed: true, state }),
    (state: unknown) => ({ allowed: false, state }),
  );
  if (!(result.state instanceof RateLimiterRes)) throw result.state;
  const { remainingPoints, msBeforeNext } = result.state;
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  return { allowed: result.allowed, quota: name, remaining: remainingPoints, seconds };
}

/** @param seconds the time after which the client may try again */
export function tooManyRequests(seconds: number): Problem {
  const headers = { 'Retry-After': String(seconds) };
  return new Problem('too-many-requests', `Too many requests; wait ${seconds} s.`, { headers });
}
