// Policy `board`: the board of the running shop for operators, and the data behind it.
import { Problem } from '@shop/shared/problem';
import { isId } from '@shop/shared/runtime';
import type { GatewayRequest, GatewayResponse } from '../../../gateway/src/entry/gateway-request.ts';
import { actionSchema, type Policy } from '../../../gateway/src/entry/policy.ts';
import { isRead } from '../../../gateway/src/entry/read-only.ts';
import { sendDocument } from '../../../gateway/src/entry/send-response.ts';
import type { UpstreamDirectory } from '../../../gateway/src/upstream/upstream.ts';
import { pagePolicy } from '../layout.ts';
import { boardPage } from './board-page.ts';
import { BoardStreams, type BoardStreamsOptions } from './board-streams.ts';
import { openEmailUpstream, traceOrder } from './trace-order.ts';
import type { Traffic } from './traffic.ts';

export interface BoardOptions extends Omit<BoardStreamsOptions, 'traffic'> {
  /** undefined when the board is switched off: then its addresses are 404 */
  readonly traffic: Traffic | undefined;
}

/**
 * The pages are public and contain no data of the shop. `/board/events` and `/board/orders/…` show the state of the
 * shop and of an order, so their pipeline must authenticate the request first.
 */
export function board({ traffic, ...options }: BoardOptions): Policy {
  const { upstreams } = options;
  const streams = traffic === undefined ? undefined : new BoardStreams({ ...options, traffic });
  return {
    name: 'board',
    schema: actionSchema('board'),
    policy(_action, { gatewayConfig }) {
      if (streams !== undefined) openEmailUpstream(upstreams, gatewayConfig);
      const page = boardPage();
      return (request, response, next) => {
        if (streams === undefined) throw new Problem('not-found', 'There is nothing at this address.');
        if (!isRead(request, response)) return;
        if (request.path === '/board') {
          sendDocument(request, response, { type: 'text/html; charset=utf-8', text: page, contentPolicy: pagePolicy });
          return;
        }
        // A configuration of an earlier release still routes the former addresses of the runbooks here.
        if (request.path.startsWith('/board/runbooks'))
          throw new Problem('not-found', 'There is nothing at this address.');
        if (!request.authenticated) throw new Error('the data of the board was reached without authenticate');
        const [, id] = /^\/board\/orders\/([^/]+)$/.exec(request.path) ?? [];
        if (id === undefined) streams.open(request, response);
        else sendTrace(upstreams, request, response, id).catch(next);
      };
    },
  };
}

async function sendTrace(
  upstreams: UpstreamDirectory,
  request: GatewayRequest,
  response: GatewayResponse,
  id: string,
): Promise<void> {
  if (!isId(id)) throw new Problem('not-found', 'There is no such order.');
  const text = JSON.stringify(await traceOrder(upstreams, request, id));
  sendDocument(request, response, { text, headers: ['Cache-Control', 'no-store'] });
}
