// Retries a request after a failure that may be temporary, and only when a second request has no further effect.
import { pause } from './pause.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface RepeatOptions {
  /** The maximum number of times that a request is sent, at least 1. */
  readonly attempts: number;
  /** The longest `Retry-After` in milliseconds. A response with a longer one is returned to the caller. */
  readonly longestWait: number;
}

/**
 * Sends a request until the signal is aborted. The signal is given beside the request, because a signal in a `Request`
 * may never be aborted: Node.js may collect the objects that connect it with an `AbortSignal.timeout`.
 */
export type Send = (request: Request, signal: AbortSignal | undefined) => Promise<Response>;

/** @param mayRepeat whether the request may be sent again in so many milliseconds; default always */
export type RepeatingSend = (
  request: Request,
  signal: AbortSignal | undefined,
  mayRepeat?: (wait: number) => boolean,
) => Promise<Response>;

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);
// The POST operations without an `Idempotency-Key` that may be repeated. A repeated renewal returns the same new
// refresh token.
const repeatable = /\/v1\/(?:products\/search|quotes|tokens|tokens\/revoke)$/;
const firstWait = 200;

/** The error statuses that may be temporary for every operation. */
export const temporaryStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Returns a `send` that repeats a request after 429; after 502, 503, 504 or a lost connection when the request is safe,
 * searches products, calculates a price, obtains or revokes tokens, or has an `Idempotency-Key`; and after 409
 * `request-in-progress` when it has the key. It waits for the time of `Retry-After`, and longer before each attempt.
 */
export function repeating(send: Send, { attempts, longestWait }: RepeatOptions): RepeatingSend {
  return async (request, signal, mayRepeat = () => true) => {
    const harmless = safe.has(request.method) || request.headers.has('idempotency-key') || repeatable.test(request.url);
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      // A request can be read only once, so every attempt except the last one sends a copy.
      const outcome = await received(send, last ? request : request.clone(), signal).catch((error: unknown) => ({
        error,
      }));
      const failed = 'error' in outcome;
      const asked = failed ? 0 : (retryAfter(outcome) ?? 0);
      const wait = waitBefore(attempt, asked);
      const temporary = failed ? harmless && signal?.aborted !== true : await mayBeTemporary(outcome, harmless);
      if (!last && temporary && asked <= longestWait && mayRepeat(wait)) {
        // The wait is random, so that clients that failed together do not retry together.
        await pause(wait * (1 + Math.random() / 10), signal);
        if (mayRepeat(0)) continue;
      }
      if (failed) throw outcome.error;
      return outcome;
    }
  };
}

/** Sends a request, and receives the whole body: a connection that is lost in the middle of it fails the attempt. */
async function received(send: Send, request: Request, signal: AbortSignal | undefined): Promise<Response> {
  const response = await send(request, signal);
  await unlessAborted(response.clone().arrayBuffer(), signal);
  return response;
}

/** Returns whether a retry may succeed after this error response. */
async function mayBeTemporary(response: Response, harmless: boolean): Promise<boolean> {
  const { status } = response;
  if (!harmless) return status === 429;
  if (status === 409) {
    const problem = (await response
      .clone()
      .json()
      .catch(() => undefined)) as { code?: unknown } | undefined;
    return problem?.code === 'request-in-progress';
  }
  return temporaryStatuses.has(status);
}

/** Returns the delay in milliseconds: that of `Retry-After`, and at least one that grows with each attempt. */
function waitBefore(attempt: number, asked: number): number {
  return Math.max(asked, firstWait * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
}

/**
 * Returns the milliseconds of `Retry-After`: a number of seconds, or a date, which a proxy may send (RFC 9110 section
 * 10.2.3).
 */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers.get('retry-after') ?? '';
  const milliseconds = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(milliseconds) ? milliseconds : undefined;
}
