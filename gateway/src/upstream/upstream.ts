// An upstream is a service with one or several hosts. The directory contains the active upstreams.
import { Problem } from '@shop/shared/problem';
import type { Log } from '@shop/shared/runtime';
import type { UpstreamView } from '@shop/web';
import { UpstreamHost, type UpstreamHostOptions } from './upstream-host.ts';

export interface UpstreamOptions extends UpstreamHostOptions {
  /** Whether requests of clients need it. Only then is the gateway not ready while the upstream is unavailable. */
  readonly isNeeded: boolean;
}

export class Upstream {
  readonly name: string;
  readonly isNeeded: boolean;
  readonly #hosts: readonly UpstreamHost[];
  #next = 0;

  constructor(name: string, origins: readonly string[], options: UpstreamOptions, log: Log) {
    this.name = name;
    this.isNeeded = options.isNeeded;
    this.#hosts = origins.map((origin) => new UpstreamHost(origin, options, log));
  }

  /** Whether at least one host is ready. */
  get ready(): boolean {
    return this.#hosts.some((host) => host.ready);
  }

  /** Whether the breakers of all hosts are open. */
  get open(): boolean {
    return this.#hosts.every((host) => host.open);
  }

  /** The number of hosts. */
  get known(): number {
    return this.#hosts.length;
  }

  /** The number of hosts in rotation. */
  get usable(): number {
    return this.#hosts.filter((host) => host.ready && !host.open).length;
  }

  /**
   * Returns the next host with a breaker that admits a request; undefined when no breaker does. Prefers a host that is
   * ready and not `tried`. A host that is not ready may have recovered since the last probe, and an attempt costs less
   * than an unnecessary error.
   */
  choose(tried?: UpstreamHost): UpstreamHost | undefined {
    this.#next = (this.#next + 1) % this.#hosts.length;
    const order = [...this.#hosts.slice(this.#next), ...this.#hosts.slice(0, this.#next)];
    return (
      order.find((host) => host !== tried && host.ready && host.admits()) ??
      order.find((host) => host !== tried && host.admits()) ??
      (tried?.admits() ? tried : undefined)
    );
  }

  /** Returns the problem for a request when no host is available. */
  unavailable(cause?: unknown): Problem {
    const wait = Math.min(...this.#hosts.map((host) => host.wait));
    const headers = { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1_000))) };
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

/** The active upstreams. An upstream that a reload does not change retains its connections and its state. */
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

  /** The upstreams in force as the board shows them, by name. */
  get views(): ReadonlyMap<string, UpstreamView> {
    return new Map(
      this.all.map(({ name, ready, open, isNeeded }) => [name, { ready, refusing: open, needed: isNeeded }]),
    );
  }

  /** Whether each upstream that clients need is ready, by name. */
  get states(): ReadonlyMap<string, boolean> {
    return new Map(this.all.filter(({ isNeeded }) => isNeeded).map(({ name, ready }) => [name, ready]));
  }

  /** Returns the upstream for a pipeline of a configuration that is being loaded. */
  open(name: string, origins: readonly string[], options: UpstreamOptions): Upstream {
    const key = JSON.stringify([name, origins, options]);
    const upstream = this.#opened.get(key) ?? this.#inForce.get(key) ?? new Upstream(name, origins, options, this.#log);
    this.#opened.set(key, upstream);
    return upstream;
  }

  /**
   * Activates the opened upstreams after their configuration was accepted. The previous ones close after their last
   * request.
   */
  keepOpened(): void {
    const old = [...this.#inForce].filter(([key]) => !this.#opened.has(key));
    setTimeout(() => this.#close(old), closeAfter).unref();
    this.#inForce = this.#opened;
    this.#opened = new Map();
  }

  /** Closes the opened upstreams that are not active, because their configuration was rejected. */
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
