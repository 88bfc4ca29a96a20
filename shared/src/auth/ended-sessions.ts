// The sessions that ended while access tokens of theirs may still be valid, as the issuer lists them.

/** A response of the issuer: the sessions that ended since the previous response. */
export interface EndedSessionsAnswer {
  readonly sessionIds: readonly string[];
  /** The parameter with which the next request continues. */
  readonly next: string;
  /** Seconds after which no access token of these sessions is valid. */
  readonly keepSeconds: number;
}

const maximum = 100_000;
const longestKept = 86_400;

/** Stores at most 100,000 sessions, each until its last access token has expired. */
export class EndedSessions {
  /**
   * Session id → the time at which its last token expires, by the clock of `performance.now()`. The sessions of the
   * latest response are last.
   */
  readonly #ends = new Map<string, number>();

  has(sessionId: string): boolean {
    return this.#ends.has(sessionId);
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Adds the sessions of a response, and removes those without unexpired tokens. */
  add({ sessionIds, keepSeconds }: EndedSessionsAnswer): void {
    const now = performance.now();
    const until = now + keepSeconds * 1_000;
    for (const id of sessionIds) if (!this.#ends.has(id)) this.#ends.set(id, until);
    for (const [id, end] of this.#ends) {
      // The oldest sessions are first.
      if (end > now && this.#ends.size <= maximum) break;
      this.#ends.delete(id);
    }
  }
}

/**
 * Returns the address of the list in a key set document, resolved against the document's own address; undefined when
 * the issuer has none.
 * @throws Error for an address on another origin
 */
export function endedSessionsUrl(document: unknown, keySetUrl: URL): URL | undefined {
  const { ended_sessions: address } = (document ?? {}) as { readonly ended_sessions?: unknown };
  if (address === undefined) return undefined;
  const url = typeof address === 'string' ? URL.parse(address, keySetUrl.href) : null;
  if (url?.origin !== keySetUrl.origin) throw new Error('the ended sessions are not at the origin of the key set');
  return url;
}

/** @throws Error when the document is not a list of ended sessions */
export function readEndedSessions(document: unknown): EndedSessionsAnswer {
  const { sessionIds, next, keepSeconds } = (document ?? {}) as Partial<Record<keyof EndedSessionsAnswer, unknown>>;
  const isList = Array.isArray(sessionIds) && sessionIds.every((id) => typeof id === 'string');
  const isPeriod = typeof keepSeconds === 'number' && keepSeconds > 0 && keepSeconds <= longestKept;
  if (!isList || typeof next !== 'string' || !isPeriod) throw new Error('the list of ended sessions is not valid');
  return { sessionIds, next, keepSeconds };
}
