// The issuer's public keys: fetched from the JWKS address, followed in the background, kept through an outage.
import type { CryptoKey } from 'jose';
import { Agent, request } from 'undici';
import { Problem } from '../problem/index.ts';
import type { Log } from '../runtime/index.ts';
import { readKeySet, type TokenAlgorithm, type VerificationKey } from './key-rules.ts';

export interface KeySet {
  /** The present key with this id, without waiting; undefined when there is none. */
  current(kid: string): CryptoKey | undefined;
  /**
   * The same, after waiting for the next load while no set is in force; an unknown id asks the issuer once more, at
   * most every 30 s.
   * @throws Problem `service-unavailable` when no key set was ever loaded, or none was confirmed for an hour
   */
  find(kid: string): Promise<CryptoKey | undefined>;
  close(): Promise<void>;
}

// A revoked key must be refused within 2 s: one second of waiting, and the rest for the fetch.
const refreshEvery = 1_000;
const fetchTimeout = 2_000;
const unknownEvery = 30_000;
const keepThroughOutage = 3_600_000;
const maximumBytes = 64 * 1024;

/**
 * Follows the key set at `url`. The key set is fetched once a second, whatever callers send, so a forged `kid` cannot
 * direct requests at the issuer. A conditional GET (RFC 9110 section 13) makes an unchanged set cheap.
 */
export function followKeySet(url: URL, algorithm: TokenAlgorithm, log: Log): KeySet {
  return new FollowedKeySet(url, algorithm, log);
}

class FollowedKeySet implements KeySet {
  readonly #url: URL;
  readonly #algorithm: TokenAlgorithm;
  readonly #log: Log;
  // An agent of its own: no proxy from the environment, no redirects, no connections shared with other traffic.
  readonly #agent = new Agent({ connections: 1, connect: { timeout: fetchTimeout }, pipelining: 1 });
  #keys: ReadonlyMap<string, VerificationKey> = new Map();
  #etag: string | undefined;
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
    void this.#refresh();
  }

  current(kid: string): CryptoKey | undefined {
    return this.#isOutdated() ? undefined : this.#keys.get(kid)?.key;
  }

  async find(kid: string): Promise<CryptoKey | undefined> {
    // All tokens wait for the same load: tokens that cannot be verified yet start no load of their own.
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

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#agent.destroy();
    await this.#loading;
    this.#nextLoad.resolve();
  }

  /** No set was ever loaded, or none was confirmed for an hour. */
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
      this.#confirmedAt = performance.now();
      if (this.#failure !== undefined) this.#log.info('key set reachable again');
      this.#failure = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
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
    const signal = AbortSignal.timeout(fetchTimeout);
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(this.#url, { dispatcher: this.#agent, headers, signal });
    if (statusCode !== 200) await body.dump();
    if (statusCode === 304 && this.#etag !== undefined) return;
    if (statusCode !== 200) throw new Error(`the key set address answered ${statusCode}`);
    const fresh = await readKeySet(JSON.parse(await textOf(body)), this.#algorithm);
    // An unchanged key stays the same object, so tokens that were verified with it stay verified.
    this.#keys = new Map([...fresh].map(([kid, key]) => [kid, sameKey(this.#keys.get(kid), key)]));
    this.#etag = typeof answered.etag === 'string' ? answered.etag : undefined;
    this.#log.debug({ keys: [...this.#keys.keys()] }, 'key set loaded');
  }
}

/** @throws Error for a body of more than `maximumBytes` */
async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maximumBytes) throw new Error(`the key set is larger than ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sameKey(known: VerificationKey | undefined, fresh: VerificationKey): VerificationKey {
  return known?.thumbprint === fresh.thumbprint ? known : fresh;
}
