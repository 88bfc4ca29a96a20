// One address of a service: its connections, whether it is in rotation, and its way out of it and back.
import type { Log } from '@shop/shared/runtime';
import { Pool } from 'undici';

export interface UpstreamHostOptions {
  readonly connections: number;
  /** Milliseconds. */
  readonly connectTimeout: number;
  /** From the end of the request until its answer begins, and between two pieces of the answer's body. */
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
  /** A service that was given less than this for a request is not to blame for having been late. */
  readonly fairTime: number;
}

const failuresToEject = 5;
const shortestEjection = 1_000;
// Short enough that a service which died several times in a row is back within ten seconds of its last start.
const longestEjection = 5_000;
// Shorter than a stopping service goes on answering (4.5 s), timer and all: none of its last connections is closed under a
// request. What the service itself says about idle connections (Keep-Alive: timeout=65) holds while it does not stop.
const idleAtMost = 3_000;
const probeEvery = 1_000;
const probeSoon = 200;

/** Out of rotation while it says that it is not ready, and for a growing time after five failed requests in a row. */
export class UpstreamHost {
  readonly origin: string;
  readonly pool: Pool;
  readonly options: UpstreamHostOptions;
  readonly #log: Log;
  readonly #changed: () => void;
  #ready = false;
  #failures = 0;
  #ejections = 0;
  #ejectedUntil = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param changed called when the address came into rotation */
  constructor(origin: string, options: UpstreamHostOptions, log: Log, changed: () => void) {
    const { connections, connectTimeout } = options;
    this.origin = origin;
    this.options = options;
    this.#log = log;
    this.#changed = changed;
    const idle = { keepAliveTimeout: idleAtMost, keepAliveMaxTimeout: idleAtMost };
    // Whoever asks watches over the answer: undici keeps each of its timers for half a second after it was cleared, and
    // with it two thirds of all that a busy gateway's collector of garbage has to look at twice.
    this.pool = new Pool(origin, { connections, connectTimeout, headersTimeout: 0, bodyTimeout: 0, ...idle });
    void this.#probe();
  }

  get usable(): boolean {
    return this.#ready;
  }

  succeeded(): void {
    this.#failures = 0;
    if (this.#ejections > 0 && performance.now() - this.#ejectedUntil > longestEjection) this.#ejections = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures < failuresToEject || !this.#ready) return;
    const time = Math.min(shortestEjection * 2 ** this.#ejections, longestEjection);
    this.#ejections += 1;
    this.#ejectedUntil = performance.now() + time;
    this.#ready = false;
    // Its way back: a passed probe first, and then a single failure is enough to go again.
    this.#failures = failuresToEject - 1;
    this.#log.warn({ address: this.origin, milliseconds: time }, 'address ejected');
  }

  /** Ends the probes and, once the running requests are over, the connections. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.pool.close();
  }

  async #probe(): Promise<void> {
    const ready = await this.#isReady();
    if (this.#closed) return;
    const back = ready && !this.#ready && performance.now() >= this.#ejectedUntil;
    if (back) this.#log.info({ address: this.origin }, 'address in rotation');
    if (!ready && this.#ready) this.#log.warn({ address: this.origin }, 'address not ready');
    if (back || !ready) this.#ready = ready;
    if (back) this.#changed();
    this.#timer = setTimeout(() => void this.#probe(), this.#ready ? probeEvery : probeSoon).unref();
  }

  async #isReady(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(probeEvery);
      const { statusCode, body } = await this.pool.request({ method: 'GET', path: '/health/ready', signal });
      await body.dump();
      return statusCode === 200;
    } catch {
      return false;
    }
  }
}
