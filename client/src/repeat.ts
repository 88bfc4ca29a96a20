// Repeats a request after a failure that may be temporary, and only when a second request has no further effect.
import { pause } from './pause.ts';

export interface RepeatOptions {
  /** The maximum number of times that a request is sent, at least 1. */
  readonly attempts: number;
  /** The longest wait in milliseconds. A response with a longer `Retry-After` is returned to the caller. */
  readonly longestWait: number;
}

type Send = (request: Request) => Promise<Response>;

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);
// The POST operations without an `Idempotency-Key` that may be repeated. A repeated renewal returns the same new
// refresh token.
const repeatable = /\/v1\/(?:products\/search|tokens|tokens\/revoke)$/;
const firstWait = 200;

/**
 * Returns a `send` that repeats a request after 429; after 502, 503, 504 or a lost connection when the request is safe,
 * searches products, obtains or revokes tokens, or has an `Idempotency-Key`; and after 409 `request-in-progress` when
 * it has the key. It waits for the time of `Retry-After`; without one, it waits longer before each attempt.
 */
export function repeating(send: Send, { attempts, longestWait }: RepeatOptions): Send {
  return async (request) => {
    const harmless = safe.has(request.method) || request.headers.has('idempotency-key') || repeatable.test(request.url);
    for (let attempt = 1; ; attempt++) {
      const last = attempt >= attempts;
      // A request can be read only once, so every attempt except the last one sends a copy.
      const outcome = await send(last ? request : request.clone()).catch((error: unknown) => ({ error }));
      if ('error' in outcome) {
        if (last || !harmless || request.signal.aborted) throw outcome.error;
      } else if (last || !(await isPassing(outcome, harmless))) {
        return outcome;
      }
      const wait = waitBefore(attempt, 'error' in outcome ? null : outcome.headers.get('retry-after'));
      if (wait > longestWait) {
        if ('error' in outcome) throw outcome.error;
        return outcome;
      }
      if (!('error' in outcome)) await outcome.body?.cancel();
      await pause(wait, request.signal);
    }
  };
}

/** Whether a repetition may succeed after this refusal. */
async function isPassing(response: Response, harmless: boolean): Promise<boolean> {
  const { status } = response;
  if (status === 429) return true;
  if (!harmless) return false;
  if (status === 409) {
    const problem = (await response
      .clone()
      .json()
      .catch(() => undefined)) as { code?: unknown } | undefined;
    return problem?.code === 'request-in-progress';
  }
  return status === 502 || status === 503 || status === 504;
}

/** Returns the delay in milliseconds. It is random, so that clients that failed together do not retry together. */
function waitBefore(attempt: number, retryAfter: string | null): number {
  const asked = retryAfter === null ? Number.NaN : millisecondsOf(retryAfter);
  if (Number.isFinite(asked)) return Math.max(0, asked);
  return firstWait * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

/** Parses a number of seconds, or a date, which a proxy may send (RFC 9110 section 10.2.3). */
function millisecondsOf(retryAfter: string): number {
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now();
}
