// The issuer's public keys: fetched from the JWKS address, followed in the background, kept through an outage.
import type { CryptoKey } from 'jose';
import { Agent, request } from 'undici';
import { Problem } from '../problem/index.ts';
import type { Log } from '../runtime/index.ts';
import { readKeySet, type TokenAlgorithm, type VerificationKey } from './key-rules.ts';

export interface KeySet {
  /** The key in force under this id, without waiting; undefined when there is none. */
  current(kid: string): CryptoKey | undefined;
  /**
   * The same, after waiting for the next load while no set is in force; an unknown id asks the issuer once more, at most every 30 s.
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
 * Follows the key set at `url`. The rhythm is one second whatever callers send, so a forged `kid` cannot turn the
 * verifier against the issuer; a conditional GET (RFC 9110 section 13) makes each round nearly free.
 */
export function followKeySet(url: URL, algorithm: TokenAlgorithm, log: Log): KeySet {
  // An agent of its own: no proxy from the environment, no redirects, no sharing of connections with other traffic.
  const agent = new Agent({ connections: 1, connect: { timeout: fetchTimeout }, pipelining: 1 });
  let keys: ReadonlyMap<string, VerificationKey> = new Map();
  let etag: string | undefined;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let failure: string | undefined;
  let loading: Promise<void> | undefined;
  /** Over when the load that runs is, or the next one when none does. */
  let round = Promise.withResolvers<void>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  async function fetchKeys(): Promise<void> {
    const accept = 'application/jwk-set+json, application/json';
    const headers = etag === undefined ? { accept } : { accept, 'if-none-match': etag };
    const signal = AbortSignal.timeout(fetchTimeout);
    const { statusCode, headers: answered, body } = await request(url, { dispatcher: agent, headers, signal });
    if (statusCode !== 200) await body.dump();
    if (statusCode === 304 && etag !== undefined) return;
    if (statusCode !== 200) throw new Error(`the key set address answered ${statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maximumBytes) throw new Error(`the key set is larger than ${maximumBytes} bytes`);
      chunks.push(chunk);
    }
    const fresh = await readKeySet(JSON.parse(Buffer.concat(chunks).toString('utf8')), algorithm);
    // An unchanged key stays the same object: tokens that were verified with it stay verified.
    keys = new Map([...fresh].map(([kid, key]) => [kid, sameKey(keys.get(kid), key)]));
    etag = typeof answered.etag === 'string' ? answered.etag : undefined;
    log.debug({ keys: [...keys.keys()] }, 'key set loaded');
  }

  async function load(): Promise<void> {
    try {
      await fetchKeys();
      confirmedAt = performance.now();
      if (failure !== undefined) log.info('key set reachable again');
      failure = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // The same failure once a second is one line, not one a second.
      if (reason !== failure && !closed) log.warn({ reason, url: url.href }, 'key set not refreshed');
      failure = reason;
    } finally {
      loading = undefined;
      round.resolve();
      round = Promise.withResolvers();
      clearTimeout(timer);
      if (!closed) timer = setTimeout(refresh, refreshEvery).unref();
    }
  }

  function refresh(): Promise<void> {
    loading ??= load();
    return loading;
  }

  function current(kid: string): CryptoKey | undefined {
    return performance.now() - confirmedAt > keepThroughOutage ? undefined : keys.get(kid)?.key;
  }

  void refresh();
  return {
    current,
    async find(kid) {
      // One round for all: tokens that nobody can verify yet, however many they are, do not ask for one of their own.
      if (performance.now() - confirmedAt > keepThroughOutage) await round.promise;
      if (performance.now() - confirmedAt > keepThroughOutage) {
        const headers = { 'Retry-After': '1' };
        throw new Problem('service-unavailable', 'Tokens cannot be verified at the moment; try again shortly.', {
          headers,
        });
      }
      if (!keys.has(kid) && performance.now() - askedAt > unknownEvery) {
        askedAt = performance.now();
        await refresh();
      }
      return current(kid);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await agent.destroy();
      await loading;
      round.resolve();
    },
  };
}

function sameKey(known: VerificationKey | undefined, fresh: VerificationKey): VerificationKey {
  return known?.thumbprint === fresh.thumbprint ? known : fresh;
}
