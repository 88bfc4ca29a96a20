// One host of an upstream: its connections, its probe, and whether it is in rotation.
import type { Log } from '@shop/shared/runtime';
import { Client, Pool } from 'undici';

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

const failuresToEject = 5;
const shortestEjection = 1_000;
// The longest pause of an ejected host. It is short enough that a host which crashed several times in a row is used
// again within ten seconds of its last start.
const longestEjection = 5_000;
// Milliseconds after which an idle connection is closed. A stopping service answers for 4.5 s. Idle connections close
// earlier, so the service never closes one that a request has just used. The service's own limit (Keep-Alive:
// timeout=65) applies only while it does not stop.
const idleAtMost = 3_000;
const probeEvery = 1_000;
const probeSoon = 200;

/**
 * A host is out of rotation while its probe fails. After five failed requests in a row it is out of rotation for a time
 * that grows.
 */
export class UpstreamHost {
  readonly origin: string;
  readonly pool: Pool;
  readonly options: UpstreamHostOptions;
  /** Its connection is used by no request of a client, so that the probe does not wait for one. */
  readonly #probeClient: Client;
  readonly #log: Log;
  readonly #onReady: () => void;
  #ready = false;
  #failures = 0;
  #ejections = 0;
  #ejectedUntil = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param onReady called when the host enters rotation */
  constructor(origin: string, options: UpstreamHostOptions, log: Log, onReady: () => void) {
    const { connections, connectTimeout } = options;
    this.origin = origin;
    this.options = options;
    this.#log = log;
    this.#onReady = onReady;
    const idle = { keepAliveTimeout: idleAtMost, keepAliveMaxTimeout: idleAtMost };
    // undici's own time-outs are disabled, because the caller limits the time of a response. undici keeps each timer
    // for half a second after it was cleared, and these timers make up two thirds of the work of a busy gateway's
    // garbage collector.
    this.pool = new Pool(origin, { connections, connectTimeout, headersTimeout: 0, bodyTimeout: 0, ...idle });
    this.#probeClient = new Client(origin, { connectTimeout, ...idle });
    void this.#probe();
  }

  /** Whether the host is in rotation. */
  get usable(): boolean {
    return this.#ready;
  }

  /** Records a request that the host answered. */
  succeeded(): void {
    this.#failures = 0;
    if (this.#ejections > 0 && performance.now() - this.#ejectedUntil > longestEjection) this.#ejections = 0;
  }

  /** Records a failed request, and ejects the host after five in a row. */
  failed(): void {
    this.#failures += 1;
    if (this.#failures < failuresToEject || !this.#ready) return;
    const time = Math.min(shortestEjection * 2 ** this.#ejections, longestEjection);
    this.#ejections += 1;
    this.#ejectedUntil = performance.now() + time;
    this.#ready = false;
    // After a passed probe the host is in rotation again, and a single failure ejects it again.
    this.#failures = failuresToEject - 1;
    this.#log.warn({ address: this.origin, milliseconds: time }, 'address ejected');
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
    const enters = ready && !this.#ready && performance.now() >= this.#ejectedUntil;
    if (enters) this.#log.info({ address: this.origin }, 'address in rotation');
    if (!ready && this.#ready) this.#log.warn({ address: this.origin }, 'address not ready');
    if (enters || !ready) this.#ready = ready;
    if (enters) this.#onReady();
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
