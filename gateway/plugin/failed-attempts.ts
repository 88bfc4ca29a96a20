// Failed log-ins and registrations for one e-mail address, wherever they come from: the brake on guessing passwords.
import { emailKey } from '@shop/shared/runtime';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { tooMany } from './allowance.ts';
import type { Counters } from './counters.ts';
import type { GatewayResponse } from './exchange.ts';

/** Refused credentials, and an address that is taken: both tell a guesser something. */
const telling = new Set([401, 409]);
const window = 60;
/** Milliseconds before the end of a window from which on nothing is taken back: it could arrive as a gift to the next one. */
const closing = 1_000;

export class FailedAttempts {
  readonly #counter: RateLimiterAbstract;
  readonly #allowed: number;

  /** @param perMinute failures after which an e-mail address has to wait */
  constructor(counters: Counters, name: string, perMinute: number) {
    this.#counter = counters.counter(`${name}:failures`, perMinute, window);
    this.#allowed = perMinute;
  }

  /**
   * An attempt counts as failed until its answer says otherwise: many at once are no more than many in a row, and nobody
   * saves a count by leaving before the answer. One that is refused here stays counted, so that no answer brings back what
   * was never let through.
   * @throws Problem 429 with `Retry-After` when the e-mail address in the body has failed too often
   */
  async watch(body: unknown, response: GatewayResponse): Promise<void> {
    const email = emailIn(body);
    if (email === undefined) return;
    const { consumedPoints, msBeforeNext } = await this.#counter.penalty(email);
    if (consumedPoints > this.#allowed) throw tooMany(Math.max(1, Math.ceil(msBeforeNext / 1_000)));
    const until = performance.now() + msBeforeNext - closing;
    response.once('finish', () => {
      if (telling.has(response.statusCode) || performance.now() > until) return;
      // A counter that cannot be reached has its substitute in memory; a lost count is not worth an error.
      this.#counter.reward(email).catch(() => {});
    });
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
