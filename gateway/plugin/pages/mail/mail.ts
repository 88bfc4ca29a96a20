// Policy `mail`: the e-mails that a shop on this machine has sent, for those who try it out. `npm start` switches it on.
import { Problem } from '@shop/shared/problem';
import type { GatewayRequest, GatewayResponse } from '../../entry/gateway-request.ts';
import { actionSchema, type Policy } from '../../entry/policy.ts';
import { type Document, sendDocument } from '../../entry/send-response.ts';
import { pagePolicy } from '../layout.ts';
import { isRead } from '../read-only.ts';
import { isFromThisMachine } from './local-client.ts';
import { listEmails, readEmail } from './mail-folder.ts';
import { createMailPages, type MailPages } from './mail-pages.ts';

/** A page that shows the HTML of an e-mail in a frame. */
const framingPolicy = `${pagePolicy}; frame-src 'self'`;
/**
 * The HTML of an e-mail: no script, no request, no form, and no access to the shop's pages. Its links open pages that
 * are not restricted. Browsers that support `frame-ancestors` ignore X-Frame-Options (CSP 3 section 6.4.2).
 */
const framedPolicy =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/**
 * `/mail` lists the e-mails, `/mail/NAME` shows one of them, and `/mail/NAME/html` is its HTML. Further pages use the
 * tokens of e-mails.
 * @param folder the folder of the `.eml` files. Without it, the addresses are 404. They always are for a client on
 *   another machine
 */
export function mail(folder: string | undefined): Policy {
  return {
    name: 'mail',
    schema: actionSchema('mail'),
    policy() {
      const pages = createMailPages();
      return (request, response, next) => {
        if (folder === undefined || !isFromThisMachine(request)) throw nothingHere();
        if (!isRead(request, response)) return;
        answer(folder, pages, request, response).catch(next);
      };
    },
  };
}

async function answer(
  folder: string,
  pages: MailPages,
  request: GatewayRequest,
  response: GatewayResponse,
): Promise<void> {
  const document = await documentAt(folder, pages, request.path);
  if (document === undefined) throw nothingHere();
  const headers = ['Cache-Control', 'no-store'];
  sendDocument(request, response, { type: 'text/html; charset=utf-8', ...document, headers });
}

async function documentAt(folder: string, pages: MailPages, path: string): Promise<Document | undefined> {
  if (path === '/mail') return { text: pages.list(await listEmails(folder), folder), contentPolicy: pagePolicy };
  const tokenPage = pages.ofTokens.get(path);
  if (tokenPage !== undefined) return { text: tokenPage, contentPolicy: pagePolicy };
  const [, name = '', html] = /^\/mail\/([^/]+)(\/html)?$/.exec(path) ?? [];
  const email = await readEmail(folder, name);
  if (email === undefined) return undefined;
  if (html === undefined) return { text: pages.email(email), contentPolicy: framingPolicy };
  return email.html === undefined ? undefined : { text: withNewTabs(email.html), contentPolicy: framedPolicy };
}

/** Lets links open in a new tab: the shop's pages cannot be shown in a frame. */
function withNewTabs(html: string): string {
  return html.replace(/^\s*(?:<!doctype[^>]*>)?/i, '$&<base target="_blank">');
}

function nothingHere(): Problem {
  return new Problem('not-found', 'There is nothing at this address.');
}
