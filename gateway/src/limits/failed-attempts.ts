// Step `failed-attempts`: limits failed log-ins and registrations for one e-mail address or client id, without
// excluding its owner. Also limits requests for password resets, all of which count.
import { createHash } from 'node:crypto';
import { clientNetwork } from '@shop/shared/runtime';
import { emailKey } from '@shop/shared/shop';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { GatewayResponse } from '../entry/gateway-request.ts';
import type { Step } from '../entry/policy.ts';
import { bufferedAtMost, receiveBody } from '../entry/request-body.ts';
import type { ApiLimit } from './limit-config.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import type { RememberedKeys } from './remembered-keys.ts';
import { tooManyRequests } from './token-bucket.ts';

/**
 * The statuses of failed attempts. A client that guesses learns something from wrong credentials, and from an e-mail
 * address that is already registered.
 */
const failures = new Set([401, 409]);
const windowSeconds = 60;
const day = 24 * 60 * 60;
/** How long a client network that succeeded with an e-mail address is exempt from `failuresPerEmail`. */
const rememberedFor = 30 * day;
/**
 * Milliseconds before the end of a window. In this period no count is subtracted, because the change could affect the
 * next window.
 */
const safetyMargin = 1_000;

/**
 * Applies the bounds of failed attempts to the operations that have such bounds. The body of such a request is
 * buffered.
 */
export function limitFailedAttempts(store: RateLimitStore, { operations = {} }: ApiLimit, maximumBody: number): Step {
  const limits = new Map<string, FailedAttempts>();
  for (const [id, own] of Object.entries(operations)) {
    const { attemptsPerEmail, attemptsPerEmailAndAddress } = own;
    const attempts = { failuresPerEmail: attemptsPerEmail, failuresPerEmailAndAddress: attemptsPerEmailAndAddress };
    if (hasBound(attempts)) limits.set(id, new FailedAttempts(store, `${id}:attempts`, attempts, 'every'));
    else if (hasBound(own)) limits.set(id, new FailedAttempts(store, id, own));
  }
  return (request, response) => {
    const limit = limits.get(request.operation?.operationId ?? '');
    if (limit === undefined) return undefined;
    // The body must be buffered: the e-mail address of a streamed body is not known in time.
    return receiveBody(request, response, Math.min(maximumBody, bufferedAtMost)).then((body) =>
      limit.watch(body, clientNetwork(request.client), response),
    );
  };
}

type EmailBounds = { readonly [Name in 'failuresPerEmail' | 'failuresPerEmailAndAddress']?: number | undefined };

function hasBound({ failuresPerEmail, failuresPerEmailAndAddress }: EmailBounds): boolean {
  return failuresPerEmail !== undefined || failuresPerEmailAndAddress !== undefined;
}

/** A bound with its counter. */
class Counted {
  readonly #counter: RateLimiterAbstract;
  readonly #allowed: number;

  constructor(store: RateLimitStore, name: string, allowed: number) {
    this.#counter = store.counter(name, allowed, windowSeconds);
    this.#allowed = allowed;
  }

  /**
   * @returns a function that undoes the count
   * @throws Problem 429 with `Retry-After` beyond the bound
   */
  async count(key: string): Promise<() => void> {
    const { consumedPoints, msBeforeNext }: RateLimiterRes = await this.#counter.penalty(key);
    if (consumedPoints > this.#allowed) throw tooManyRequests(Math.max(1, Math.ceil(msBeforeNext / 1_000)));
    const until = performance.now() + msBeforeNext - safetyMargin;
    return () => {
      // When Redis is unavailable, the count in memory applies. A lost count does not justify an error.
      if (performance.now() <= until) this.#counter.reward(key).catch(() => {});
    };
  }
}

export class FailedAttempts {
  readonly #byPair: Counted | undefined;
  readonly #byEmail: Counted | undefined;
  /** Pairs of e-mail address and client network that succeeded. */
  readonly #succeeded: RememberedKeys;
  readonly #counts: 'failures' | 'every';

  /** @param counts `every` for an operation with a response that does not show whether an attempt failed */
  constructor(store: RateLimitStore, name: string, bounds: EmailBounds, counts: 'failures' | 'every' = 'failures') {
    const bound = (kind: string, allowed: number | undefined): Counted | undefined =>
      allowed === undefined ? undefined : new Counted(store, `${name}:${kind}`, allowed);
    this.#byPair = bound('failures-by-pair', bounds.failuresPerEmailAndAddress);
    this.#byEmail = bound('failures', bounds.failuresPerEmail);
    this.#succeeded = store.keys(`${name}:succeeded`, rememberedFor);
    this.#counts = counts;
  }

  /**
   * Counts the attempt as failed until its response shows otherwise. So concurrent attempts are limited like successive
   * ones, and a client gains no attempts by closing the connection early. An attempt that is rejected here stays
   * counted.
   * @param network of the client
   * @throws Problem 429 with `Retry-After` when the e-mail address in the body has failed too often
   */
  async watch(body: unknown, network: string, response: GatewayResponse): Promise<void> {
    const email = emailIn(body);
    if (email === undefined) return;
    const pair = createHash('sha256').update(`${network}\n${email}`).digest('base64url');
    const takeBack = [await this.#byPair?.count(pair)];
    const exempt = this.#counts === 'failures' && (await this.#succeeded.has(pair));
    response.req.isKnownClient = exempt;
    if (!exempt) takeBack.push(await this.#byEmail?.count(email));
    if (this.#counts === 'every') return;
    response.once('finish', () => {
      const { statusCode } = response;
      if (failures.has(statusCode)) return;
      for (const each of takeBack) each?.();
      if (statusCode < 300) void this.#succeeded.add(pair);
    });
  }
}

/**
 * An address of 254 characters is never longer in any decomposed form. Normalizing a much longer string could take
 * seconds.
 */
const longestEmail = 2_048;

// Decodes as the service does: it accepts a byte order mark, which JSON.parse alone rejects.
const utf8 = new TextDecoder();

/** Returns the normalized e-mail address, as accounts compares it, or the client id of a machine. */
function emailIn(body: unknown): string | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const { email, client_id: client } = JSON.parse(utf8.decode(body)) as { email?: unknown; client_id?: unknown };
    // An e-mail address contains no line break.
    if (email === undefined && typeof client === 'string') return `client\n${client.slice(0, 254)}`;
    if (typeof email !== 'string' || email.length > longestEmail) return undefined;
    return emailKey(email).slice(0, 254);
  } catch {
    // The service rejects a body that is not JSON.
    return undefined;
  }
}
