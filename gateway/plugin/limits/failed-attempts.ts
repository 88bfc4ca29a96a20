// Failed log-ins and registrations for one e-mail address: the brake on guessing passwords, which must not shut out the owner.
import { createHash } from 'node:crypto';
import { emailKey } from '@shop/shared/runtime';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { GatewayResponse } from '../entry/gateway-request.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import type { RememberedKeys } from './remembered-keys.ts';
import { tooMany } from './token-bucket.ts';

/** Failures a minute after which a client has to wait. */
export interface FailureBounds {
  /** For one e-mail address, from one client address. */
  readonly failuresPerEmailAndAddress?: number;
  /** For one e-mail address, from all client addresses that have never succeeded with it. */
  readonly failuresPerEmail?: number;
}

/** Refused credentials, and an e-mail address that is registered: both answers tell a guesser something. */
const telling = new Set([401, 409]);
const window = 60;
const day = 24 * 60 * 60;
/** How long a client address that succeeded with an e-mail address is exempt from the bound of other clients' failures. */
const rememberedFor = 30 * day;
/** Milliseconds before the end of a window from which on nothing is taken back: it could reach the next window. */
const closing = 1_000;

interface Bound {
  readonly counter: RateLimiterAbstract;
  readonly allowed: number;
}

export class FailedAttempts {
  readonly #byPair: Bound | undefined;
  readonly #byEmail: Bound | undefined;
  /** Pairs of e-mail address and client address that succeeded. */
  readonly #succeeded: RememberedKeys;

  constructor(counters: RateLimitStore, name: string, bounds: FailureBounds) {
    const bound = (kind: string, allowed: number | undefined): Bound | undefined =>
      allowed === undefined ? undefined : { counter: counters.counter(`${name}:${kind}`, allowed, window), allowed };
    this.#byPair = bound('failures-by-pair', bounds.failuresPerEmailAndAddress);
    this.#byEmail = bound('failures', bounds.failuresPerEmail);
    this.#succeeded = counters.keys(`${name}:succeeded`, rememberedFor);
  }

  /**
   * An attempt counts as failed until its answer says otherwise: many concurrent attempts are no more than many in a row, and a
   * client gains nothing by leaving before the answer. An attempt that is refused here stays counted, so that no answer takes back
   * what was never let through.
   * @param client the network of the client
   * @throws Problem 429 with `Retry-After` when the e-mail address in the body has failed too often
   */
  async watch(body: unknown, client: string, response: GatewayResponse): Promise<void> {
    const email = emailIn(body);
    if (email === undefined) return;
    const pair = createHash('sha256').update(`${client}\n${email}`).digest('base64url');
    const takeBack = [await this.#count(this.#byPair, pair)];
    if (!(await this.#succeeded.has(pair))) takeBack.push(await this.#count(this.#byEmail, email));
    response.once('finish', () => {
      const { statusCode } = response;
      if (telling.has(statusCode)) return;
      for (const each of takeBack) each();
      if (statusCode < 300) void this.#succeeded.add(pair);
    });
  }

  /** @returns takes the count back */
  async #count(bound: Bound | undefined, key: string): Promise<() => void> {
    if (bound === undefined) return () => {};
    const { counter, allowed } = bound;
    const { consumedPoints, msBeforeNext }: RateLimiterRes = await counter.penalty(key);
    if (consumedPoints > allowed) throw tooMany(Math.max(1, Math.ceil(msBeforeNext / 1_000)));
    const until = performance.now() + msBeforeNext - closing;
    return () => {
      // A counter that cannot be reached has its substitute in memory; a lost count is not worth an error.
      if (performance.now() <= until) counter.reward(key).catch(() => {});
    };
  }
}

/** An address of 254 characters is never longer, however it is decomposed; normalizing a long text could take seconds. */
const longestEmail = 2_048;

// Reads what the service reads: also behind a byte order mark, over which JSON.parse alone would stumble.
const utf8 = new TextDecoder();

/** The e-mail address as the accounts compare it. */
function emailIn(body: unknown): string | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const { email } = JSON.parse(utf8.decode(body)) as { email?: unknown };
    if (typeof email !== 'string' || email.length > longestEmail) return undefined;
    return emailKey(email).slice(0, 254);
  } catch {
    // What is no JSON is the service's to refuse.
    return undefined;
  }
}
