// A service behind the gateway: its addresses in rotation and its breaker; and the directory of all services in force.
import { Problem } from '@shop/shared/protocol';
import type { Log } from '@shop/shared/runtime';
import { CircuitBreaker } from './circuit-breaker.ts';
import { UpstreamHost, type UpstreamHostOptions } from './upstream-host.ts';

export class Upstream {
  readonly name: string;
  readonly breaker = new CircuitBreaker();
  readonly #addresses: readonly UpstreamHost[];
  #turn = 0;

  constructor(name: string, origins: readonly string[], options: UpstreamHostOptions, log: Log) {
    this.name = name;
    this.#addresses = origins.map((origin) => new UpstreamHost(origin, options, log, () => this.breaker.reset()));
  }

  /** Whether at least one address is in rotation. */
  get ready(): boolean {
    return this.#addresses.some((address) => address.usable);
  }

  /** How many addresses there are, and how many of them are in rotation. */
  get known(): number {
    return this.#addresses.length;
  }

  get usable(): number {
    return this.#addresses.filter((address) => address.usable).length;
  }

  /** @throws Problem 503 with `Retry-After` while the breaker is open */
  requireClosed(): void {
    const wait = this.breaker.wait(performance.now());
    if (wait > 0) throw this.unavailable(wait);
  }

  /**
   * The next address in turn, in rotation and other than `tried` where possible. When none is in rotation any will do:
   * the service may know better than its probe, and an attempt costs less than a refusal that was not necessary.
   */
  choose(tried?: UpstreamHost): UpstreamHost {
    this.#turn += 1;
    const turns = this.#addresses.map((_, offset) => this.#addresses[(this.#turn + offset) % this.#addresses.length]);
    const chosen =
      turns.find((address) => address?.usable && address !== tried) ??
      turns.find((address) => address !== tried) ??
      tried;
    if (chosen === undefined) throw this.unavailable(1_000);
    return chosen;
  }

  unavailable(wait: number, cause?: unknown): Problem {
    const headers = { 'Retry-After': String(Math.ceil(wait / 1_000)) };
    return new Problem('service-unavailable', 'The service is not available at the moment; try again shortly.', {
      headers,
      cause: cause ?? new Error(`no way to ${this.name}`),
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#addresses.map((address) => address.close()));
  }
}

// A request that was let in under the old configuration may still be collecting its body.
const closeAfter = 15_000;

/** The services of the configuration in force. A reload that keeps a service keeps its connections and its state. */
export class UpstreamDirectory {
  readonly #log: Log;
  #inForce = new Map<string, Upstream>();
  #opened = new Map<string, Upstream>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The services in force. */
  get all(): readonly Upstream[] {
    return [...this.#inForce.values()];
  }

  /** Whether each service is ready, by name. */
  get states(): ReadonlyMap<string, boolean> {
    return new Map([...this.#inForce.values()].map((service) => [service.name, service.ready]));
  }

  /** The service for a pipeline that is being built. */
  open(name: string, origins: readonly string[], options: UpstreamHostOptions): Upstream {
    const key = JSON.stringify([name, origins, options]);
    const service = this.#opened.get(key) ?? this.#inForce.get(key) ?? new Upstream(name, origins, options, this.#log);
    this.#opened.set(key, service);
    return service;
  }

  /** The pipelines stand: what they opened is in force, the rest ends when its last request is over. */
  keepOpened(): void {
    const old = [...this.#inForce].filter(([key]) => !this.#opened.has(key));
    setTimeout(() => this.#end(old), closeAfter).unref();
    this.#inForce = this.#opened;
    this.#opened = new Map();
  }

  /** The pipelines were refused: what only they opened ends at once. */
  forgetOpened(): void {
    this.#end([...this.#opened].filter(([key]) => !this.#inForce.has(key)));
    this.#opened = new Map();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#inForce.values()].map((service) => service.close()));
  }

  #end(services: readonly [string, Upstream][]): void {
    for (const [, service] of services) {
      service.close().catch((error: unknown) => this.#log.warn({ err: error }, 'a service did not close'));
    }
  }
}
