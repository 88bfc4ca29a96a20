// How much a caller may still ask for: a steady rate and a reserve for bursts, and what the answer says about them.
import { Problem } from '@shop/shared/protocol';
import { outsideRequests } from '@shop/shared/runtime';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { GatewayRequest } from '../entry/gateway-request.ts';
import type { RateLimitStore } from './rate-limit-store.ts';

/** `steady` requests within `seconds`; what goes beyond is taken from `reserve` requests within `reserveSeconds`. */
export interface Rate {
  readonly steady: number;
  readonly seconds: number;
  readonly reserve?: number;
  readonly reserveSeconds?: number;
  /**
   * All accounts of one client address together get at most this many times the steady rate; without it, their number is not
   * bounded.
   */
  readonly accountsPerAddress?: number;
}

interface Bucket {
  readonly name: string;
  readonly points: number;
  readonly counter: RateLimiterAbstract;
}

/** The token bucket of one operation; every caller has its own, and the accounts of one address share a further one. */
export class TokenBucket {
  readonly #buckets: readonly Bucket[];
  readonly #shared: Bucket | undefined = undefined;
  /** `RateLimit-Policy` as the IETF draft writes it: quota and window of each bucket. */
  readonly #policy: string;
  readonly #accountPolicy: string = '';

  constructor(counters: RateLimitStore, name: string, rate: Rate) {
    const { steady, seconds, reserve, reserveSeconds, accountsPerAddress } = rate;
    const sizes = [
      { name: 'steady', points: steady, window: seconds },
      ...(reserve === undefined ? [] : [{ name: 'reserve', points: reserve, window: reserveSeconds ?? seconds }]),
    ];
    const open = ({ name: size, points, window }: (typeof sizes)[number]): Bucket => ({
      name: size,
      points,
      counter: counters.counter(`${name}:${size}`, points, window),
    });
    const policyOf = ({ name: size, points, window }: (typeof sizes)[number]) => `"${size}";q=${points};w=${window}`;
    this.#buckets = sizes.map(open);
    this.#policy = sizes.map(policyOf).join(', ');
    if (accountsPerAddress === undefined) return;
    const shared = { name: 'address', points: accountsPerAddress * steady, window: seconds };
    this.#shared = open(shared);
    this.#accountPolicy = `${this.#policy}, ${policyOf(shared)}`;
  }

  /**
   * Takes one request out of the first bucket that has one, and says in the answer's header fields what is left.
   * @param network of the client
   * @param account of the caller, if there is one: then the buckets are its own, and its network has the one that accounts share
   * @throws Problem 429 with `Retry-After` when the buckets are empty
   */
  async take(request: GatewayRequest, network: string, account?: string): Promise<void> {
    const shared = account === undefined ? undefined : this.#shared;
    // Both are asked at the same time: behind Redis each question is a round trip.
    const [own, ofNetwork] = await Promise.all([
      this.#takeOwn(account ?? network),
      shared === undefined ? undefined : consume(shared, network),
    ]);
    const { allowed, bucket, remaining, seconds } = ofNetwork?.allowed === false ? ofNetwork : own;
    const policy = shared === undefined ? this.#policy : this.#accountPolicy;
    const state = [`"${bucket}"`, `r=${remaining}`, `t=${seconds}`].join(';');
    request.answerHeaders = request.answerHeaders.concat('RateLimit-Policy', policy, 'RateLimit', state);
    if (!allowed) throw tooMany(seconds);
  }

  async #takeOwn(key: string): Promise<Left> {
    let left: Left = { allowed: false, bucket: '', remaining: 0, seconds: 1 };
    for (const bucket of this.#buckets) {
      left = await consume(bucket, key);
      if (left.allowed) break;
    }
    return left;
  }
}

interface Left {
  readonly allowed: boolean;
  readonly bucket: string;
  readonly remaining: number;
  /** Until the window begins again. */
  readonly seconds: number;
}

async function consume({ name, counter }: Bucket, key: string): Promise<Left> {
  // A count outlives its request. The library rejects with the same kind of value that it resolves with; anything else is a
  // failure.
  const result = await outsideRequests(() => counter.consume(key)).then(
    (state) => ({ allowed: true, state }),
    (state: unknown) => ({ allowed: false, state }),
  );
  if (!(result.state instanceof RateLimiterRes)) throw result.state;
  const { remainingPoints, msBeforeNext } = result.state;
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  return { allowed: result.allowed, bucket: name, remaining: remainingPoints, seconds };
}

/** @param seconds until it is worth trying again */
export function tooMany(seconds: number): Problem {
  const headers = { 'Retry-After': String(seconds) };
  return new Problem('too-many-requests', `Too many requests; wait ${seconds} s.`, { headers });
}
