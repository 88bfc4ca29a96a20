// The streams of server-sent events behind open boards: the state of the shop, every two seconds.
import type { TokenVerifier } from '@shop/shared/auth';
import { Problem } from '@shop/shared/problem';
import type { GatewayRequest, GatewayResponse } from '../../../gateway/src/entry/gateway-request.ts';
import { commonHeaders } from '../../../gateway/src/entry/send-response.ts';
import type { UpstreamDirectory } from '../../../gateway/src/upstream/upstream.ts';
import { headlineOf } from './faults.ts';
import { partsOf, type UpstreamView } from './part-states.ts';
import { type MetricsAddresses, ShopMetrics } from './shop-figures.ts';
import type { Traffic } from './traffic.ts';

const every = 2_000;
/** A stream ends after this time, and when its token is no longer valid. The page then opens the next one. */
const longest = 5 * 60_000;
/** The bounds of all open streams and of those of one account, so that no account can exclude the others. */
const mostStreams = 50;
const mostPerAccount = 5;

export interface BoardStreamsOptions {
  readonly upstreams: UpstreamDirectory;
  readonly traffic: Traffic;
  readonly verifier: Pick<TokenVerifier, 'known'>;
  readonly draining: () => boolean;
  /** Where the processes offer their metrics; without it the board shows only what the gateway itself observes. */
  readonly metrics?: MetricsAddresses | undefined;
}

export class BoardStreams {
  readonly #upstreams: UpstreamDirectory;
  readonly #traffic: Traffic;
  readonly #verifier: Pick<TokenVerifier, 'known'>;
  readonly #draining: () => boolean;
  readonly #addresses: MetricsAddresses;
  readonly #perAccount = new Map<string, number>();
  #open = 0;
  #metrics: ShopMetrics;
  #polling: NodeJS.Timeout | undefined;

  constructor({ upstreams, traffic, verifier, draining, metrics = [] }: BoardStreamsOptions) {
    this.#upstreams = upstreams;
    this.#traffic = traffic;
    this.#verifier = verifier;
    this.#draining = draining;
    this.#addresses = metrics;
    this.#metrics = new ShopMetrics(metrics);
  }

  /**
   * Answers a request with a stream.
   * @throws Problem 429 or 503 with `Retry-After` when too many streams are open
   */
  open(request: GatewayRequest, response: GatewayResponse): void {
    const headers = [...commonHeaders(request), 'Content-Type', 'text/event-stream', 'Cache-Control', 'no-store'];
    if (request.method === 'HEAD') {
      response.writeHead(200, headers).end();
      return;
    }
    // The client may have left while its token was verified. Then `close` was already emitted.
    if (response.destroyed) return;
    const account = request.caller?.accountId ?? '';
    this.#enter(account);
    response.writeHead(200, headers);
    const began = performance.now();
    const send = (): void => {
      // Nothing is added for a client that does not read. Such a client is disconnected after a while.
      if (response.writableNeedDrain) return;
      const now = performance.now();
      response.write(`data: ${JSON.stringify(this.#state(now))}\n\n`);
      const isValid = this.#verifier.known(request.authorization ?? '') !== undefined;
      if (isValid && !this.#draining() && now - began <= longest) return;
      // A client that does not read delays `close`, and nothing can be written after the end.
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

  #state(now: number): object {
    const shop = this.#metrics.figures();
    const views = this.#upstreams.all.map(({ name, ready, open, isNeeded }): [string, UpstreamView] => [
      name,
      { ready, refusing: open, needed: isNeeded },
    ]);
    const operations = this.#traffic.figures(now);
    const parts = partsOf(new Map(views), shop);
    return { parts, headline: headlineOf(parts), operations, shop, blind: this.#addresses.length === 0 };
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
