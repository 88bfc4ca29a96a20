// What a browser gets at `/`, and at an address where nothing is: a page that leads on. Programs get a problem document.
// Both are redirected from the address of a page with a slash at its end, and from the former address of a page.
import { Problem } from '@shop/shared/problem';
import type { GatewayRequest } from '../../gateway/src/entry/gateway-request.ts';
import { isUnknownAddress, noSuchAddress } from '../../gateway/src/entry/no-such-address.ts';
import type { Middleware } from '../../gateway/src/entry/policy.ts';
import { type Document, sendDocument } from '../../gateway/src/entry/send-response.ts';
import { type Assets, readAssets } from './assets.ts';
import { docsLayout } from './docs/docs-layout.ts';
import { escapeHtml, type Layout, pagePolicy } from './layout.ts';
import { isFromThisMachine } from './mail/local-client.ts';
import { prefersHtml } from './prefers-html.ts';

/** Addresses of programs. */
const forPrograms = /^\/(?:v1|\.well-known|health|internal)(?:\/|$)/;

/** Which pages are switched on. */
export interface Pages {
  readonly board: boolean;
  readonly mail: boolean;
}

/**
 * The engine, with pages for browsers in place of the problem `not-found`.
 * @param addresses one of them may be what a program meant
 */
export function withHelp(handle: Middleware, pages: Pages, addresses: ReadonlySet<string>): Middleware {
  const assets = readAssets();
  const layout = docsLayout(assets);
  const known = [...addresses, '/docs', '/problems', ...(pages.board ? ['/board'] : [])];
  return (request, response, next) => {
    handle(request, response, (error) => {
      const lost = isLost(request, error);
      const page = lost ? (redirection(request) ?? helpPage(request, layout, assets, pages)) : undefined;
      const isUnknown = request.id !== '' && isUnknownAddress(error);
      if (page === undefined) next(isUnknown ? noSuchAddress(pathOf(request), known) : error);
      else sendDocument(request, response, page);
    });
  };
}

function pathOf({ url = '/' }: GatewayRequest): string {
  return url.split('?', 1)[0] ?? '/';
}

/** Whether a browser asks for a page that does not exist. */
function isLost(request: GatewayRequest, error: unknown): boolean {
  const missing = error === undefined || (error instanceof Problem && error.code === 'not-found');
  // The guard sets the id. Without it, the response has no identity yet.
  return missing && request.id !== '' && ['GET', 'HEAD'].includes(request.method ?? '');
}

/** Addresses of pages. A redirection leads to no other ones. */
const pageAddress = /^\/(?:docs|problems|board|mail)(?:\/[\w.@-]+)*$/;

function redirection({ url = '/' }: GatewayRequest): Document | undefined {
  const [path = '/', query] = url.split(/(?=\?)/);
  const plain = path.replace(/(?<!\/)\/+$/, '').replace(/^\/board\/runbooks(?=\/|$)/, '/docs/runbooks');
  if (plain === path || !pageAddress.test(plain)) return undefined;
  return { status: 308, type: 'text/plain', text: '', headers: ['Location', `${plain}${query ?? ''}`] };
}

function helpPage(request: GatewayRequest, layout: Layout, assets: Assets, pages: Pages): Document | undefined {
  const path = pathOf(request);
  if (forPrograms.test(path) || !prefersHtml(request.headers.accept)) return undefined;
  const isRoot = path === '/';
  const title = isRoot ? 'The shop is running' : 'There is nothing here';
  const lead = isRoot
    ? '<p class="lead">This is the address of its API. Begin with one of these pages.</p>'
    : `<p class="lead">No page has the address <code>${escapeHtml(path)}</code>.${didYouMean(path)}</p>`;
  const content = `<main id="content" class="guide">\n<article>\n<h1>${title}</h1>\n${lead}\n${links(request, pages)}\n</article>\n</main>`;
  const head = `<link rel="stylesheet" href="${assets.addressOf('guide.css')}">\n`;
  return {
    status: isRoot ? 200 : 404,
    type: 'text/html; charset=utf-8',
    text: layout.page({ title, address: path, content, head }),
    contentPolicy: pagePolicy,
    headers: ['Cache-Control', 'no-store', 'Vary', 'Accept'],
  };
}

/** No address has capital letters. */
function didYouMean(path: string): string {
  const plain = path.toLowerCase();
  if (plain === path || !/^(?:\/[a-z0-9.-]+)+$/.test(plain)) return '';
  return ` Perhaps you mean <a href="${plain}">${plain}</a>.`;
}

function links(request: GatewayRequest, { board, mail }: Pages): string {
  const all = [
    ['/docs/getting-started', 'Getting started', 'Seven requests, from an account to a cancelled order.'],
    ['/docs/reference', 'Reference', 'Every operation, with code to copy and a form to try it.'],
    ['/docs', 'Documentation', 'All guides, and the contracts to download.'],
    ...(board ? [['/board', 'Board', 'The state of the running shop, for its staff.']] : []),
    ...(mail && isFromThisMachine(request) ? [['/mail', 'E-mails', 'What the shop on this machine has sent.']] : []),
  ];
  const cards = all.map(([address, title, text]) => {
    return `<li><a href="${address}"><strong>${title}</strong> <span>${text}</span></a></li>`;
  });
  return `<ul class="cards">${cards.join('\n')}</ul>`;
}
