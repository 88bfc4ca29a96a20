// The board of the running shop for operators, and its data.
import { Problem } from '@shop/shared/problem';
import { isId } from '@shop/shared/runtime';
import type { Assets } from '../assets.ts';
import { pagePolicy } from '../layout.ts';
import { type FindPage, html, type PageRequest, type PageResponse } from '../page.ts';
import { boardPage } from './board-page.ts';
import { BoardStreams, type BoardStreamsOptions } from './board-streams.ts';
import { type AskService, traceOrder } from './trace-order.ts';

export interface BoardOptions extends BoardStreamsOptions {
  readonly ask: AskService;
}

/**
 * Creates the pages of the board. The page is public and contains no data of the shop. `/board/events` and
 * `/board/orders/…` show the state of the shop and of an order, so the gateway must authenticate their requests first.
 */
export function boardPages(options: BoardOptions | undefined, assets: Assets): FindPage {
  if (options === undefined) return () => undefined;
  const streams = new BoardStreams(options);
  const page = boardPage(assets);
  return (request) => {
    if (request.path === '/board') return () => ({ type: html, body: page, contentPolicy: pagePolicy });
    // The configuration of an earlier release still routes the previous addresses of the runbooks to this handler.
    if (request.path.startsWith('/board/runbooks')) return undefined;
    const [, id] = /^\/board\/orders\/([^/]+)$/.exec(request.path) ?? [];
    return () => {
      if (!request.authenticated) throw new Error('the data of the board was reached without authenticate');
      return id === undefined ? streams.open(request) : trace(options.ask, request, id);
    };
  };
}

async function trace(ask: AskService, request: PageRequest, id: string): Promise<PageResponse> {
  if (!isId(id)) throw new Problem('not-found', 'There is no such order.');
  const body = JSON.stringify(await traceOrder(ask, request, id));
  return { body, headers: ['Cache-Control', 'no-store'] };
}
