// Failed log-ins and registrations for one e-mail address, wherever they come from: the brake on guessing passwords.
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { tooMany } from './allowance.ts';
import type { Counters } from './counters.ts';
import type { GatewayResponse } from './exchange.ts';

/** Refused credentials, and an address that is taken: both tell a guesser something. */
const telling = new Set([401, 409]);
const window = 60;

export class FailedAttempts {
  readonly #counter: RateLimiterAbstract;
  readonly #allowed: number;

  /** @param perMinute failures after which an e-mail address has to wait */
  constructor(counters: Counters, name: string, perMinute: number) {
    this.#counter = counters.counter(`${name}:failures`, perMinute, window);
    this.#allowed = perMinute;
  }

  /** @throws Problem 429 with `Retry-After` when the e-mail address in the body has failed too often */
  async watch(body: unknown, response: GatewayResponse): Promise<void> {
    const email = emailIn(body);
    if (email === undefined) return;
    const state = await this.#counter.get(email);
    if (state !== null && state.consumedPoints >= this.#allowed) throw tooMany(Math.ceil(state.msBeforeNext / 1_000));
    response.once('finish', () => {
      // A counter that cannot be reached has its substitute in memory; a lost count is not worth an error.
      if (telling.has(response.statusCode)) this.#counter.penalty(email).catch(() => {});
    });
  }
}

/** The e-mail address as the accounts compare it: NFC, trimmed, lower case. */
function emailIn(body: unknown): string | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const { email } = JSON.parse(body.toString('utf8')) as { email?: unknown };
    return typeof email === 'string' ? email.normalize('NFC').trim().toLowerCase().slice(0, 254) : undefined;
  } catch {
    // What is no JSON is the service's to refuse.
    return undefined;
  }
}
