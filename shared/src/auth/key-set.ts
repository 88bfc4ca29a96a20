// The issuer's public keys and its list of ended sessions. They are fetched from the JWKS address, polled in the
// background, and cached during an outage.
import type { CryptoKey } from 'jose';
import { Agent, type Dispatcher, request } from 'undici';
import { Problem } from '../problem/index.ts';
import { type Log, toReason } from '../runtime/index.ts';
import { observe } from '../telemetry/index.ts';
import { EndedSessions, endedSessionsUrl, readEndedSessions } from './ended-sessions.ts';
import { readKeySet, type TokenAlgorithm, type VerificationKey } from './key-rules.ts';

export interface KeySet {
  /** Returns the present key with this id, without waiting; undefined when there is none. */
  current(kid: string): CryptoKey | undefined;
  /**
   * Returns the present key with this id. Waits for the next load while no set is loaded. An unknown id causes one more
   * request to the issuer, at most every 30 s.
   * @throws Problem `service-unavailable` when no key set was ever loaded, or none was confirmed for an hour
   */
  find(kid: string): Promise<CryptoKey | undefined>;
  /** Returns whether the issuer ended the session, so that its access tokens are invalid. */
  hasEnded(sessionId: string): boolean;
  close(): Promise<void>;
}

// Milliseconds between two loads. A revoked key and an ended session must be rejected within 2 s: one second of
// waiting, and the rest for the request.
const refreshEvery = 1_000;
const fetchTimeout = 2_000;
const unknownEvery = 30_000;
const keepThroughOutage = 3_600_000;
const maximumBytes = 64 * 1024;
// The maximum size of the list, for 100,000 ids of 36 characters.
const maximumListBytes = 8 * 1024 * 1024;

/**
 * Polls the key set at `url`. It is fetched once a second, whatever callers send, so a forged `kid` cannot cause
 * further requests. A conditional GET (RFC 9110 section 13) makes an unchanged set cheap.
 *
 * A key set with the member `ended_sessions` contains the address of the list of ended sessions. The list is fetched
 * with the key set, and no key is used before the first list is complete. During an outage, both stay valid for the
 * same time.
 */
export function followKeySet(url: URL, algorithm: TokenAlgorithm, log: Log): KeySet {
  return new FollowedKeySet(url, algorithm, log);
}

class FollowedKeySet implements KeySet {
  readonly #url: URL;
  readonly #algorithm: TokenAlgorithm;
  readonly #log: Log;
  // A separate agent: without a proxy from the environment, without redirects, and without sharing connections with
  // other requests.
  readonly #agent = new Agent({ connections: 1, connect: { timeout: fetchTimeout }, pipelining: 1 });
  #keys: ReadonlyMap<string, VerificationKey> = new Map();
  #etag: string | undefined;
  readonly #ended = new EndedSessions();
  #endedUrl: URL | undefined;
  /** The parameter with which the next request for ended sessions continues. */
  #endedSince: string | undefined;
  #listIsMissing = false;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #failure: string | undefined;
  #loading: Promise<void> | undefined;
  /** Resolves after the running load, or after the next load when none is running. */
  #nextLoad = Promise.withResolvers<void>();
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(url: URL, algorithm: TokenAlgorithm, log: Log) {
    this.#url = url;
    this.#algorithm = algorithm;
    this.#log = log;
    this.#observe();
    void this.#refresh();
  }

  #observe(): void {
    const size = { unit: '{session}', description: 'Ended sessions whose access tokens this process refuses.' };
    observe('shop.ended_sessions', size, (tell) => tell(this.#ended.size));
    const description = 'Time since the key set and the ended sessions were last confirmed, or since the start.';
    const began = performance.now();
    observe('shop.key_set.age', { unit: 's', description }, (tell) =>
      tell((performance.now() - Math.max(this.#confirmedAt, began)) / 1_000),
    );
  }

  current(kid: string): CryptoKey | undefined {
    return this.#isOutdated() ? undefined : this.#keys.get(kid)?.key;
  }

  async find(kid: string): Promise<CryptoKey | undefined> {
    // All tokens wait for the same load. A token that cannot be verified yet does not start another load.
    if (this.#isOutdated()) await this.#nextLoad.promise;
    if (this.#isOutdated()) {
      const headers = { 'Retry-After': '1' };
      throw new Problem('service-unavailable', 'Tokens cannot be verified at the moment; try again shortly.', {
        headers,
      });
    }
    if (!this.#keys.has(kid) && performance.now() - this.#askedAt > unknownEvery) {
      this.#askedAt = performance.now();
      await this.#refresh();
    }
    return this.current(kid);
  }

  hasEnded(sessionId: string): boolean {
    return this.#ended.has(sessionId);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#agent.destroy();
    await this.#loading;
    this.#nextLoad.resolve();
  }

  /** Returns whether no set was ever loaded, or none was confirmed for an hour. */
  #isOutdated(): boolean {
    return performance.now() - this.#confirmedAt > keepThroughOutage;
  }

  #refresh(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    try {
      await this.#fetchKeys();
      await this.#fetchEndedSessions();
      this.#confirmedAt = performance.now();
      if (this.#failure !== undefined) this.#log.info('key set reachable again');
      this.#failure = undefined;
    } catch (error) {
      const reason = toReason(error);
      // A failure that repeats every second is logged once.
      if (reason !== this.#failure && !this.#closed)
        this.#log.warn({ reason, url: this.#url.href }, 'key set not refreshed');
      this.#failure = reason;
    } finally {
      this.#loading = undefined;
      this.#nextLoad.resolve();
      this.#nextLoad = Promise.withResolvers();
      clearTimeout(this.#timer);
      if (!this.#closed) this.#timer = setTimeout(() => void this.#refresh(), refreshEvery).unref();
    }
  }

  async #fetchKeys(): Promise<void> {
    const accept = 'application/jwk-set+json, application/json';
    const headers = this.#etag === undefined ? { accept } : { accept, 'if-none-match': this.#etag };
    const { statusCode, headers: answered, body } = await this.#get(this.#url, headers);
    if (statusCode !== 200) await body.dump();
    if (statusCode === 304 && this.#etag !== undefined) return;
    if (statusCode !== 200) throw new Error(`the key set address answered ${statusCode}`);
    const document: unknown = JSON.parse(await textOf(body, maximumBytes));
    const fresh = await readKeySet(document, this.#algorithm);
    const endedUrl = endedSessionsUrl(document, this.#url);
    // An unchanged key stays the same object, so tokens that were verified with it stay in the cache.
    this.#keys = new Map([...fresh].map(([kid, key]) => [kid, sameKey(this.#keys.get(kid), key)]));
    this.#endedUrl = endedUrl;
    this.#etag = typeof answered.etag === 'string' ? answered.etag : undefined;
    this.#log.debug({ keys: [...this.#keys.keys()] }, 'key set loaded');
  }

  async #fetchEndedSessions(): Promise<void> {
    if (this.#endedUrl === undefined) return;
    const url = new URL(this.#endedUrl);
    if (this.#endedSince !== undefined) url.searchParams.set('since', this.#endedSince);
    const { statusCode, body } = await this.#get(url, { accept: 'application/json' });
    if (statusCode !== 200) await body.dump();
    // A process of the previous release sent the key set, or a proxy does not route the address of the list. Tokens
    // stay valid as before.
    if (statusCode === 404) return this.#warnOfMissingList(url);
    if (statusCode !== 200) throw new Error(`the address of the ended sessions answered ${statusCode}`);
    const answer = readEndedSessions(JSON.parse(await textOf(body, maximumListBytes)));
    this.#ended.add(answer);
    this.#endedSince = answer.next;
    this.#listIsMissing = false;
  }

  #warnOfMissingList({ href: url }: URL): void {
    if (!this.#listIsMissing) this.#log.warn({ url }, 'ended sessions not found: their access tokens stay valid');
    this.#listIsMissing = true;
  }

  #get(url: URL, headers: Readonly<Record<string, string>>): Promise<Dispatcher.ResponseData> {
    const signal = AbortSignal.timeout(fetchTimeout);
    return request(url, { dispatcher: this.#agent, headers, signal });
  }
}

/** @throws Error for a body of more than `maximum` bytes */
async function textOf(body: AsyncIterable<Buffer>, maximum: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maximum) throw new Error(`the key set or its list is larger than ${maximum} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sameKey(known: VerificationKey | undefined, fresh: VerificationKey): VerificationKey {
  return known?.thumbprint === fresh.thumbprint ? known : fresh;
}
