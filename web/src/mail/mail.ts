// The e-mails that a shop on this machine has sent, for those who try it out. `npm start` switches it on.
import { Problem } from '@shop/shared/problem';
import type { Assets } from '../assets.ts';
import { pagePolicy } from '../layout.ts';
import { type FindPage, html, type PageRequest, type PageResponse } from '../page.ts';
import { prefersHtml } from '../prefers-html.ts';
import { isFromThisMachine } from './local-client.ts';
import { listEmails, readEmail } from './mail-folder.ts';
import { createMailKey, type MailKey } from './mail-key.ts';
import { createMailPages, type MailPages } from './mail-pages.ts';

export interface ShownEmails {
  /** The folder of the `.eml` files. */
  readonly folder: string;
  /** The secret that a reader of the e-mails presents. */
  readonly key: string;
}

/** A page that shows the HTML of an e-mail in a frame. */
const framingPolicy = `${pagePolicy}; frame-src 'self'`;
/**
 * The policy for the HTML of an e-mail: no scripts, requests or forms, and no access to the shop's pages. Its links
 * open pages without these restrictions. Browsers that support `frame-ancestors` ignore X-Frame-Options (CSP 3 section
 * 6.4.2).
 */
const framedPolicy =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/**
 * Creates the pages of e-mails. `/mail` lists the e-mails, `/mail/NAME` shows one of them, and `/mail/NAME/html` is its
 * HTML. They need the key. Further pages use the tokens of e-mails and contain no secrets.
 * @param emails without them, and for a client on another machine, the addresses return 404
 */
export function mailPages(emails: ShownEmails | undefined, assets: Assets): FindPage {
  if (emails === undefined) return () => undefined;
  const pages = createMailPages(assets);
  const key = createMailKey(emails.key);
  return (request) => {
    if (!isFromThisMachine(request)) return undefined;
    return async () => {
      const page = await respond(emails.folder, key, pages, request);
      return { type: html, ...page, headers: ['Cache-Control', 'no-store', ...(page.headers ?? [])] };
    };
  };
}

async function respond(folder: string, key: MailKey, pages: MailPages, request: PageRequest): Promise<PageResponse> {
  const tokenPage = pages.ofTokens.get(request.path);
  if (tokenPage !== undefined) return { body: tokenPage, contentPolicy: pagePolicy };
  const permission = key.permissionOf(request);
  if (permission === undefined) {
    if (prefersHtml(request.headers.accept)) return { status: 403, body: pages.locked, contentPolicy: pagePolicy };
    throw new Problem('forbidden', 'The e-mails need the key that the address printed by `npm start` contains.');
  }
  const document = await documentAt(folder, pages, request.path);
  if (document === undefined) throw new Problem('not-found', 'There is nothing at this address.');
  return { ...document, headers: permission.headers };
}

async function documentAt(folder: string, pages: MailPages, path: string): Promise<PageResponse | undefined> {
  if (path === '/mail') return { body: pages.list(await listEmails(folder), folder), contentPolicy: pagePolicy };
  const [, name = '', html] = /^\/mail\/([^/]+)(\/html)?$/.exec(path) ?? [];
  const email = await readEmail(folder, name);
  if (email === undefined) return undefined;
  if (html === undefined) return { body: pages.email(email), contentPolicy: framingPolicy };
  return email.html === undefined ? undefined : { body: withNewTabs(email.html), contentPolicy: framedPolicy };
}

/** Lets links open in a new tab: the shop's pages cannot be shown in a frame. */
function withNewTabs(html: string): string {
  return html.replace(/^\s*(?:<!doctype[^>]*>)?/i, '$&<base target="_blank">');
}
