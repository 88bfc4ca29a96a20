// The streams of server-sent events for open boards: the state of the shop, every two seconds.
import type { ServerResponse } from 'node:http';
import { Problem } from '@shop/shared/problem';
import type { PageRequest, PageResponse } from '../page.ts';
import { toHeadlines } from './faults.ts';
import { partsOf, type UpstreamView } from './part-states.ts';
import { type MetricsAddresses, ShopMetrics } from './shop-figures.ts';

const every = 2_000;
/** A stream closes after this time, and when its token is no longer valid. The page then opens the next one. */
const longest = 5 * 60_000;
/** The bounds of all open streams and of those of one account, so that no account can exclude the others. */
const mostStreams = 50;
const mostPerAccount = 5;

export interface OperationFigures {
  readonly operation: string;
  /** Within the last minute. */
  readonly requests: number;
  /** The responses from 400 to 499, and those from 500. */
  readonly refused: number;
  readonly failed: number;
  /** Milliseconds within which 50 and 99 percent of the requests were completed, rounded up to the next bound. */
  readonly half: number;
  readonly most: number;
}

export interface BoardStreamsOptions {
  /** The services as the gateway observes them, by name. */
  readonly upstreams: () => ReadonlyMap<string, UpstreamView>;
  /** The operations that were called through this gateway, the busiest first. */
  readonly traffic: () => readonly OperationFigures[];
  /** Whether the token of a verified request is still valid. */
  readonly isValid: (authorization: string) => boolean;
  readonly draining: () => boolean;
  /** The addresses of the processes' metrics; without them the board shows only the figures of the gateway. */
  readonly metrics?: MetricsAddresses | undefined;
}

export class BoardStreams {
  readonly #options: BoardStreamsOptions;
  readonly #addresses: MetricsAddresses;
  readonly #perAccount = new Map<string, number>();
  #open = 0;
  #metrics: ShopMetrics;
  #polling: NodeJS.Timeout | undefined;

  constructor(options: BoardStreamsOptions) {
    this.#options = options;
    this.#addresses = options.metrics ?? [];
    this.#metrics = new ShopMetrics(this.#addresses);
  }

  /**
   * Opens a stream.
   * @throws Problem 429 or 503 with `Retry-After` when too many streams are open
   */
  open({ method, caller, authorization = '' }: PageRequest): PageResponse {
    const headers = ['Cache-Control', 'no-store'];
    if (method === 'HEAD') return { type: 'text/event-stream', headers, stream: (response) => response.end() };
    const account = caller?.accountId ?? '';
    this.#enter(account);
    const stream = (response: ServerResponse): void => this.#send(response, account, authorization);
    return { type: 'text/event-stream', headers, stream };
  }

  #send(response: ServerResponse, account: string, authorization: string): void {
    // The client may have left while its token was verified. Then `close` was already emitted.
    if (response.destroyed) {
      this.#leave(account);
      return;
    }
    const { isValid, draining } = this.#options;
    const began = performance.now();
    const send = (): void => {
      // Nothing is written for a client that does not read. Such a client is disconnected later.
      if (response.writableNeedDrain) return;
      const now = performance.now();
      response.write(`data: ${JSON.stringify(this.#state())}\n\n`);
      if (isValid(authorization) && !draining() && now - began <= longest) return;
      // A client that does not read delays `close`, and no data can be written after the end.
      clearInterval(timer);
      response.end();
    };
    const timer = setInterval(send, every);
    response.once('close', () => {
      clearInterval(timer);
      this.#leave(account);
    });
    send();
  }

  /** Counts a stream. The first one starts the polling of the metrics, which all streams share. */
  #enter(account: string): void {
    const own = this.#perAccount.get(account) ?? 0;
    checkBounds(this.#open, own);
    if (this.#open === 0 && this.#addresses.length > 0) this.#startPolling();
    this.#open += 1;
    this.#perAccount.set(account, own + 1);
  }

  #leave(account: string): void {
    this.#open -= 1;
    const left = (this.#perAccount.get(account) ?? 0) - 1;
    if (left > 0) this.#perAccount.set(account, left);
    else this.#perAccount.delete(account);
    if (this.#open === 0) clearInterval(this.#polling);
  }

  #startPolling(): void {
    this.#metrics = new ShopMetrics(this.#addresses);
    const poll = (): void => void this.#metrics.poll();
    poll();
    this.#polling = setInterval(poll, every);
  }

  #state(): object {
    const shop = this.#metrics.figures();
    const operations = this.#options.traffic();
    const parts = partsOf(this.#options.upstreams(), shop);
    return { parts, headline: toHeadlines(parts), operations, shop, blind: this.#addresses.length === 0 };
  }
}

function checkBounds(all: number, own: number): void {
  const headers = { 'Retry-After': '60' };
  if (own >= mostPerAccount)
    throw new Problem('too-many-requests', `This account has ${own} boards open; close one of them.`, { headers });
  if (all >= mostStreams) {
    const cause = new Error(`${all} boards are open`);
    throw new Problem('service-unavailable', 'Too many boards are open.', { headers, cause });
  }
}
