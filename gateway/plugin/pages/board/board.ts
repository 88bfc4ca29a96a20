// Policy `board`: the picture of the running shop for operators, and the stream of figures behind it.
import { Problem } from '@shop/shared/protocol';
import { isId } from '@shop/shared/runtime';
import { actionSchema, type GatewayRequest, type GatewayResponse, type Policy } from '../../entry/gateway-request.ts';
import { commonHeaders, sendDocument } from '../../entry/send-response.ts';
import type { UpstreamDirectory } from '../../upstream/upstream.ts';
import { isRead } from '../read-only.ts';
import { boardPage, boardPolicy } from './board-page.ts';
import { partsOf, type Seen } from './board-parts.ts';
import { runbookPages } from './runbook-pages.ts';
import { type MetricsAddresses, ShopMetrics } from './shop-metrics.ts';
import { traceOrder } from './trace-order.ts';
import type { Traffic } from './traffic.ts';

const every = 2_000;
/** A stream ends while its token may still be good; the page comes back with a new one. */
const longest = 5 * 60_000;
/** Streams at once, and those of one account: nobody keeps all others from looking. */
const mostStreams = 50;
const mostPerAccount = 5;

/**
 * The pages are for anybody and show nothing of the shop by themselves. `/board/events` and `/board/orders/…` give away the state
 * of the shop and of an order: their pipeline must ask for a token first.
 * @param traffic undefined when the board is off: then there is nothing at its address
 * @param metrics where the processes offer their metrics; without it the board shows what the gateway itself knows
 */
export function board(
  services: UpstreamDirectory,
  traffic: Traffic | undefined,
  draining: () => boolean,
  metrics: MetricsAddresses = [],
): Policy {
  let streams = 0;
  const perAccount = new Map<string, number>();
  let figures = new ShopMetrics(metrics);
  let looking: NodeJS.Timeout | undefined;

  /** The processes are asked only while somebody looks, and once for all who do. */
  const startLooking = (): void => {
    figures = new ShopMetrics(metrics);
    const look = (): void => void figures.look();
    look();
    looking = setInterval(look, every);
  };

  const seen = (): Map<string, Seen> =>
    new Map(services.all.map(({ name, known, usable, breaker }) => [name, { known, usable, refusing: breaker.open }]));

  const stream = (request: GatewayRequest, response: GatewayResponse, from: Traffic): void => {
    const headers = [...commonHeaders(request), 'Content-Type', 'text/event-stream', 'Cache-Control', 'no-store'];
    if (request.method === 'HEAD') {
      response.writeHead(200, headers).end();
      return;
    }
    const account = request.caller?.accountId ?? '';
    const own = perAccount.get(account) ?? 0;
    checkStreams(streams, own);
    if (streams === 0 && metrics.length > 0) startLooking();
    streams += 1;
    perAccount.set(account, own + 1);
    response.writeHead(200, headers);
    const began = performance.now();
    const send = (): void => {
      // What a client does not read is not added to; its connection is closed when it goes on like this.
      if (response.writableNeedDrain) return;
      const now = performance.now();
      const shop = figures.figures();
      const state = { parts: partsOf(seen(), shop), operations: from.figures(now), shop, blind: metrics.length === 0 };
      response.write(`data: ${JSON.stringify(state)}\n\n`);
      if (draining() || now - began > longest) response.end();
    };
    const timer = setInterval(send, every);
    response.once('close', () => {
      clearInterval(timer);
      streams -= 1;
      const left = (perAccount.get(account) ?? 0) - 1;
      if (left > 0) perAccount.set(account, left);
      else perAccount.delete(account);
      if (streams === 0) clearInterval(looking);
    });
    send();
  };

  const showOrder = async (request: GatewayRequest, response: GatewayResponse, id: string): Promise<void> => {
    if (!isId(id)) throw new Problem('not-found', 'There is no such order.');
    const text = JSON.stringify(await traceOrder(services, request, id));
    sendDocument(request, response, { text, headers: ['Cache-Control', 'no-store'] });
  };

  return {
    name: 'board',
    schema: actionSchema('board'),
    policy() {
      const pages = runbookPages().set('/board', boardPage());
      return (request, response, next) => {
        if (traffic === undefined) throw new Problem('not-found', 'There is nothing at this address.');
        if (!isRead(request, response)) return;
        const text = pages.get(request.path);
        if (text !== undefined) {
          sendDocument(request, response, { type: 'text/html; charset=utf-8', text, contentPolicy: boardPolicy });
          return;
        }
        if (request.path.startsWith('/board/runbooks/')) throw new Problem('not-found', 'There is no such runbook.');
        if (!request.identified) throw new Error('the figures of the board were reached without authenticate');
        const [, id] = /^\/board\/orders\/([^/]+)$/.exec(request.path) ?? [];
        if (id === undefined) stream(request, response, traffic);
        else showOrder(request, response, id).catch(next);
      };
    },
  };
}

/** @throws Problem when all streams, or those of the caller's account, are open */
function checkStreams(all: number, own: number): void {
  const headers = { 'Retry-After': '60' };
  if (own >= mostPerAccount)
    throw new Problem('too-many-requests', `This account has ${own} boards open; close one of them.`, { headers });
  if (all >= mostStreams) {
    const cause = new Error(`${all} boards are open`);
    throw new Problem('service-unavailable', 'Too many boards are open.', { headers, cause });
  }
}
