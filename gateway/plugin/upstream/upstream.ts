// An upstream is a service behind the gateway: its hosts and its circuit breaker. The directory holds the upstreams in
// force.
import { Problem } from '@shop/shared/problem';
import type { Log } from '@shop/shared/runtime';
import { CircuitBreaker } from './circuit-breaker.ts';
import { UpstreamHost, type UpstreamHostOptions } from './upstream-host.ts';

export interface UpstreamOptions extends UpstreamHostOptions {
  /** Whether requests of clients need it. Only then is the gateway not ready while the upstream is unavailable. */
  readonly isNeeded: boolean;
}

export class Upstream {
  readonly name: string;
  readonly isNeeded: boolean;
  readonly breaker = new CircuitBreaker();
  readonly #hosts: readonly UpstreamHost[];
  #next = 0;

  constructor(name: string, origins: readonly string[], options: UpstreamOptions, log: Log) {
    this.name = name;
    this.isNeeded = options.isNeeded;
    this.#hosts = origins.map((origin) => new UpstreamHost(origin, options, log, () => this.breaker.reset()));
  }

  /** Whether at least one host is in rotation. */
  get ready(): boolean {
    return this.#hosts.some((host) => host.usable);
  }

  /** The number of hosts. */
  get known(): number {
    return this.#hosts.length;
  }

  /** The number of hosts in rotation. */
  get usable(): number {
    return this.#hosts.filter((host) => host.usable).length;
  }

  /** @throws Problem 503 with `Retry-After` while the breaker is open */
  requireClosed(): void {
    const wait = this.breaker.wait(performance.now());
    if (wait > 0) throw this.unavailable(wait);
  }

  /**
   * Returns the next host, if possible one that is in rotation and not `tried`. When no host is in rotation, any host
   * is returned: the upstream may have recovered since the last probe, and an attempt costs less than an unnecessary
   * refusal.
   */
  choose(tried?: UpstreamHost): UpstreamHost {
    this.#next += 1;
    const order = this.#hosts.map((_, offset) => this.#hosts[(this.#next + offset) % this.#hosts.length]);
    const chosen =
      order.find((host) => host?.usable && host !== tried) ?? order.find((host) => host !== tried) ?? tried;
    if (chosen === undefined) throw this.unavailable(1_000);
    return chosen;
  }

  /** @param wait milliseconds after which the client may try again */
  unavailable(wait: number, cause?: unknown): Problem {
    const headers = { 'Retry-After': String(Math.ceil(wait / 1_000)) };
    return new Problem('service-unavailable', 'The service is not available at the moment; try again shortly.', {
      headers,
      cause: cause ?? new Error(`no host of ${this.name} is available`),
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
  }
}

// Milliseconds to wait, because a request that was accepted under the old configuration may still be sending its body.
const closeAfter = 15_000;

/** The upstreams of the configuration in force. A reload that keeps an upstream keeps its connections and its state. */
export class UpstreamDirectory {
  readonly #log: Log;
  #inForce = new Map<string, Upstream>();
  #opened = new Map<string, Upstream>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The upstreams in force. */
  get all(): readonly Upstream[] {
    return [...this.#inForce.values()];
  }

  /** Whether each upstream that clients need is ready, by name. */
  get states(): ReadonlyMap<string, boolean> {
    return new Map(this.all.filter(({ isNeeded }) => isNeeded).map(({ name, ready }) => [name, ready]));
  }

  /** The upstream for a pipeline of a configuration that is being loaded. */
  open(name: string, origins: readonly string[], options: UpstreamOptions): Upstream {
    const key = JSON.stringify([name, origins, options]);
    const upstream = this.#opened.get(key) ?? this.#inForce.get(key) ?? new Upstream(name, origins, options, this.#log);
    this.#opened.set(key, upstream);
    return upstream;
  }

  /**
   * Puts the opened upstreams in force after their configuration was accepted. The former ones close after their last
   * request.
   */
  keepOpened(): void {
    const old = [...this.#inForce].filter(([key]) => !this.#opened.has(key));
    setTimeout(() => this.#close(old), closeAfter).unref();
    this.#inForce = this.#opened;
    this.#opened = new Map();
  }

  /** Closes the opened upstreams that are not in force, because their configuration was refused. */
  forgetOpened(): void {
    this.#close([...this.#opened].filter(([key]) => !this.#inForce.has(key)));
    this.#opened = new Map();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#inForce.values()].map((upstream) => upstream.close()));
  }

  #close(upstreams: readonly [string, Upstream][]): void {
    for (const [, upstream] of upstreams) {
      upstream.close().catch((error: unknown) => this.#log.warn({ err: error }, 'cannot close an upstream'));
    }
  }
}
