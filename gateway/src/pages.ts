// The policies of the pages, which @shop/web renders.
import { resolve } from 'node:path';
import { Problem } from '@shop/shared/problem';
import type { FindPage, Page, ShopPages } from '@shop/web';
import type { GatewayRequest, GatewayResponse } from './entry/gateway-request.ts';
import { isUnknownAddress, noSuchAddress } from './entry/no-such-address.ts';
import { actionSchema, type Middleware, type Policy } from './entry/policy.ts';
import { isRead } from './entry/read-only.ts';
import { sendDocument } from './entry/send-response.ts';
import { publishedContracts } from './published-contracts.ts';
import { openEmailUpstream } from './upstream/ask-service.ts';
import type { UpstreamDirectory } from './upstream/upstream.ts';

interface DocsAction {
  readonly guides: string;
  /** The folder of the services, each with its AsyncAPI document. */
  readonly services: string;
}

export interface PagePoliciesOptions {
  /** The configuration folder. The action of `docs` names folders relative to it. */
  readonly folder: string;
  /** Whether the board is shown. */
  readonly board: boolean;
  readonly upstreams: UpstreamDirectory;
}

export function pagePolicies(pages: ShopPages, { folder, board, upstreams }: PagePoliciesOptions): Policy[] {
  return [
    { name: 'problems', schema: actionSchema('problems'), policy: () => serve(pages.problems) },
    { name: 'mail', schema: actionSchema('mail'), policy: () => serve(pages.mail) },
    {
      name: 'docs',
      schema: actionSchema('docs', { guides: { type: 'string' }, services: { type: 'string' } }),
      policy({ guides, services }: DocsAction, { gatewayConfig }) {
        const contracts = publishedContracts(gatewayConfig, folder);
        return serve(pages.docs({ contracts, guides: resolve(folder, guides), services: resolve(folder, services) }));
      },
    },
    {
      name: 'board',
      schema: actionSchema('board'),
      policy(_action, { gatewayConfig }) {
        if (board) openEmailUpstream(upstreams, gatewayConfig);
        return serve(pages.board);
      },
    },
  ];
}

function serve(find: FindPage): Middleware {
  return (request, response, next) => {
    const page = find(request);
    if (page === undefined) throw new Problem('not-found', 'There is nothing at this address.');
    if (isRead(request, response)) send(page, request, response).catch(next);
  };
}

async function send(page: Page, request: GatewayRequest, response: GatewayResponse): Promise<void> {
  sendDocument(request, response, await page());
}

/**
 * Returns a handler of the engine that sends browsers a page instead of the problem `not-found`.
 * @param addresses known addresses, from which the problem suggests a similar one
 */
export function withHelp(handle: Middleware, pages: ShopPages, addresses: ReadonlySet<string>): Middleware {
  const known = [...addresses, ...pages.addresses];
  return (request, response, next) => {
    handle(request, response, (error) => {
      const page = isLost(request, error) ? pages.help(request) : undefined;
      const isUnknown = request.id !== '' && isUnknownAddress(error);
      if (page !== undefined) send(() => page, request, response).catch(next);
      else next(isUnknown ? noSuchAddress((request.url ?? '/').split('?', 1)[0] ?? '/', known) : error);
    });
  };
}

/** Returns whether a read matches no route. The guard sets the id. Without it, the response has no identity yet. */
function isLost(request: GatewayRequest, error: unknown): boolean {
  const missing = error === undefined || (error instanceof Problem && error.code === 'not-found');
  return missing && request.id !== '' && ['GET', 'HEAD'].includes(request.method ?? '');
}
