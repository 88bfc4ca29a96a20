// Responses to browsers at `/` and at unknown addresses: a page with links. Programs get a problem document. Both are
// redirected from an address with a trailing slash, and from the previous address of a page.
import { escapeHtml } from '@shop/shared/runtime';
import type { Assets } from './assets.ts';
import { docsLayout } from './docs/docs-layout.ts';
import { type Layout, pagePolicy } from './layout.ts';
import { isFromThisMachine } from './mail/local-client.ts';
import { html, type PageRequest, type PageResponse } from './page.ts';
import { prefersHtml } from './prefers-html.ts';

/** Addresses of programs. */
const forPrograms = /^\/(?:v1|\.well-known|health|internal)(?:\/|$)/;

/** Which pages are switched on. */
interface Switches {
  readonly storefront: boolean;
  readonly board: boolean;
  readonly mail: boolean;
}

/** Returns a function that responds to a read of an address where nothing is. It returns undefined for programs. */
export function helpPage(switches: Switches, assets: Assets): (request: PageRequest) => PageResponse | undefined {
  const layout = docsLayout(assets);
  return (request) => redirection(request) ?? linksPage(request, layout, switches);
}

/** Addresses of pages. A redirection leads to no other ones. */
const pageAddress = /^\/(?:docs|problems|board|mail)(?:\/[\w.@-]+)*$/;

function redirection({ url = '/' }: PageRequest): PageResponse | undefined {
  const [path = '/', query] = url.split(/(?=\?)/);
  const plain = path.replace(/(?<!\/)\/+$/, '').replace(/^\/board\/runbooks(?=\/|$)/, '/docs/runbooks');
  if (plain === path || !pageAddress.test(plain)) return undefined;
  return { status: 308, type: 'text/plain', body: '', headers: ['Location', `${plain}${query ?? ''}`] };
}

function linksPage(request: PageRequest, layout: Layout, switches: Switches): PageResponse | undefined {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  if (forPrograms.test(path) || !prefersHtml(request.headers.accept)) return undefined;
  const isRoot = path === '/';
  const kicker = isRoot ? '' : '<p class="kicker">404</p>\n';
  const title = isRoot ? 'The shop is running' : 'There is nothing here';
  const lead = isRoot
    ? '<p class="lead">This is the address of its API. Begin with one of these pages.</p>'
    : `<p class="lead">No page has the address <code>${escapeHtml(path)}</code>.${didYouMean(path)}</p>`;
  const content = `<main id="content" class="page">\n<article>\n${kicker}<h1>${title}</h1>\n${lead}\n${links(request, switches)}\n</article>\n</main>`;
  return {
    status: isRoot ? 200 : 404,
    type: html,
    body: layout.page({ title, address: path, content }),
    contentPolicy: pagePolicy,
    headers: ['Cache-Control', 'no-store', 'Vary', 'Accept'],
  };
}

/** Suggests an address in lower case, because addresses contain no capital letters. */
function didYouMean(path: string): string {
  const plain = path.toLowerCase();
  if (plain === path || !/^(?:\/[a-z0-9.-]+)+$/.test(plain)) return '';
  return ` Perhaps you mean <a href="${plain}">${plain}</a>.`;
}

function links(request: PageRequest, { storefront, board, mail }: Switches): string {
  const all = [
    ...(storefront ? [['/', 'Storefront', 'An example of a shop for customers.']] : []),
    ['/docs/getting-started', 'Getting started', 'Seven requests, from an account to a cancelled order.'],
    ['/docs/reference', 'Reference', 'Every operation, with code to copy and a form to try it.'],
    ['/docs', 'Documentation', 'All guides, and the contracts to download.'],
    ...(board ? [['/board', 'Board', 'The state of the running shop, for its staff.']] : []),
    ...(mail && isFromThisMachine(request) ? [['/mail', 'E-mails', 'What the shop on this machine has sent.']] : []),
  ];
  const cards = all.map(([address, title, text]) => {
    return `<li><a href="${address}"><strong>${title}</strong> <span>${text}</span></a></li>`;
  });
  return `<ul class="cards plain">${cards.join('\n')}</ul>`;
}
