// One host of an upstream: its connections, its probe and its circuit breaker.
import type { Log } from '@shop/shared/runtime';
import { Client, Pool } from 'undici';
import { CircuitBreaker } from './circuit-breaker.ts';

/** Times are in milliseconds. */
export interface UpstreamHostOptions {
  readonly connections: number;
  readonly connectTimeout: number;
  /** Milliseconds from the end of the request to the beginning of the response. */
  readonly headersTimeout: number;
  /** Milliseconds between two parts of the response's body. */
  readonly bodyTimeout: number;
  /** A late response does not count against an upstream that had less time than this. */
  readonly fairTime: number;
}

// Milliseconds after which an idle connection is closed. A stopping service responds for 4.5 s. Idle connections close
// earlier, so the service never closes one that a request has just used. The service's own limit (Keep-Alive:
// timeout=65) applies only while it does not stop.
const idleAtMost = 3_000;
const probeEvery = 1_000;
const probeSoon = 200;

/** A host is out of rotation while its probe fails or its breaker is open. */
export class UpstreamHost {
  readonly origin: string;
  readonly pool: Pool;
  readonly options: UpstreamHostOptions;
  /** Its connection is used by no request of a client, so that the probe does not wait for one. */
  readonly #probeClient: Client;
  readonly #log: Log;
  readonly #breaker = new CircuitBreaker();
  #ready = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(origin: string, options: UpstreamHostOptions, log: Log) {
    const { connections, connectTimeout } = options;
    this.origin = origin;
    this.options = options;
    this.#log = log;
    const idle = { keepAliveTimeout: idleAtMost, keepAliveMaxTimeout: idleAtMost };
    // undici's own timeouts are disabled, because the caller limits the time of a response. undici retains each timer
    // for half a second after it was cleared. These timers cause two thirds of the garbage collection of a busy
    // gateway.
    this.pool = new Pool(origin, { connections, connectTimeout, headersTimeout: 0, bodyTimeout: 0, ...idle });
    this.#probeClient = new Client(origin, { connectTimeout, ...idle });
    void this.#probe();
  }

  /** Whether the last probe passed. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Whether most requests fail, so that the host gets only trial requests. */
  get open(): boolean {
    return this.#breaker.open;
  }

  /** Milliseconds until the breaker admits a request. */
  get wait(): number {
    return this.#breaker.wait(performance.now());
  }

  /** Returns whether the breaker admits this request. While it is open, this request is its trial. */
  admits(): boolean {
    return this.#breaker.admits(performance.now());
  }

  /** Records a request to which the host responded. */
  succeeded(): void {
    this.#breaker.succeeded(performance.now());
  }

  /** Records a failed request. */
  failed(): void {
    const before = this.open;
    this.#breaker.failed(performance.now());
    if (this.open && !before) this.#log.warn({ address: this.origin }, 'most requests to the address fail');
  }

  /** Stops the probes, and closes the connections after the running requests. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all([this.pool.close(), this.#probeClient.destroy()]);
  }

  async #probe(): Promise<void> {
    const ready = await this.#isReady();
    if (this.#closed) return;
    if (ready && !this.#ready) {
      this.#log.info({ address: this.origin }, 'address in rotation');
      this.#breaker.reset();
    }
    if (!ready && this.#ready) this.#log.warn({ address: this.origin }, 'address not ready');
    this.#ready = ready;
    this.#timer = setTimeout(() => void this.#probe(), this.#ready ? probeEvery : probeSoon).unref();
  }

  async #isReady(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(probeEvery);
      const { statusCode, body } = await this.#probeClient.request({ method: 'GET', path: '/health/ready', signal });
      await body.dump();
      return statusCode === 200;
    } catch {
      return false;
    }
  }
}
