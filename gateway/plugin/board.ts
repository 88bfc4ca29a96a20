// Policy `board`: the picture of the running shop for operators, and the stream of figures behind it.
import { Problem } from '@shop/shared/protocol';
import { boardPage, boardPolicy } from '../board/page.ts';
import type { Traffic } from '../board/traffic.ts';
import { commonHeaders, sendDocument } from './answer.ts';
import { actionSchema, type GatewayRequest, type GatewayResponse, type Policy } from './exchange.ts';
import type { ServiceDirectory } from './service.ts';

const every = 2_000;
/** A stream ends while its token may still be good; the page comes back with a new one. */
const longest = 5 * 60_000;
const mostStreams = 50;

/**
 * The page is for anybody and shows nothing by itself. `/board/events` gives away the state of the shop and nothing else:
 * its pipeline must ask for a token first.
 * @param traffic undefined when the board is off: then there is nothing at its address
 */
export function board(services: ServiceDirectory, traffic: Traffic | undefined, draining: () => boolean): Policy {
  let streams = 0;

  const stream = (request: GatewayRequest, response: GatewayResponse, from: Traffic): void => {
    if (!request.identified) throw new Error('the stream of the board was reached without authenticate');
    if (streams >= mostStreams)
      throw new Problem('service-unavailable', 'Too many boards are open.', { headers: { 'Retry-After': '60' } });
    streams += 1;
    const headers = [...commonHeaders(request), 'Content-Type', 'text/event-stream', 'Cache-Control', 'no-store'];
    response.writeHead(200, headers);
    const began = performance.now();
    const send = (): void => {
      const now = performance.now();
      const state = { services: Object.fromEntries(services.states), operations: from.figures(now) };
      response.write(`data: ${JSON.stringify(state)}\n\n`);
      if (draining() || now - began > longest) response.end();
    };
    const timer = setInterval(send, every);
    response.once('close', () => {
      clearInterval(timer);
      streams -= 1;
    });
    send();
  };

  return {
    name: 'board',
    schema: actionSchema('board'),
    policy() {
      const text = boardPage();
      return (request, response) => {
        if (traffic === undefined) throw new Problem('not-found', 'There is nothing at this address.');
        const isStream = request.path === '/board/events';
        const allowed = isStream ? ['GET'] : ['GET', 'HEAD'];
        if (!allowed.includes(request.method ?? '')) {
          const headers = { Allow: allowed.join(', ') };
          throw new Problem('method-not-allowed', `The method ${request.method} is not supported here.`, { headers });
        }
        if (isStream) stream(request, response, traffic);
        else sendDocument(request, response, { type: 'text/html; charset=utf-8', text, contentPolicy: boardPolicy });
      };
    },
  };
}
