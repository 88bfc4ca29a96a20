// The HTML of the pages under /mail: the list, one e-mail, and the pages to which e-mails with a token link.
import { escapeHtml } from '@shop/shared/runtime';
import type { Assets, ScriptName } from '../assets.ts';
import { createLayout } from '../layout.ts';
import { sign } from '../sign.ts';
import type { EmailList, SentEmail } from './mail-folder.ts';

export interface MailPages {
  /** @param folder where the files of all e-mails are */
  list(emails: EmailList, folder: string): string;
  email(email: SentEmail): string;
  /** For a browser without the key. */
  readonly locked: string;
  /** Address → page. */
  readonly ofTokens: ReadonlyMap<string, string>;
}

const listAddress = '/mail';

interface TokenPage {
  readonly address: string;
  readonly title: string;
  readonly path: string;
  readonly button: string;
  readonly done: string;
  /** HTML of further fields. */
  readonly fields?: string;
}

/** `npm start` gives these addresses to notifications as the links of e-mails. A storefront has such pages itself. */
const tokenPages: readonly TokenPage[] = [
  {
    address: `${listAddress}/verify-email`,
    title: 'Confirm the e-mail address',
    path: '/v1/email-verifications',
    button: 'Confirm the address',
    done: 'The address is confirmed.',
  },
  {
    address: `${listAddress}/undo-email-change`,
    title: 'Keep the former e-mail address',
    path: '/v1/email-verifications/undo',
    button: 'Keep the address',
    done: 'The account keeps the address, and every device is logged out. An e-mail with a way to set a new password was sent. A password that was set after the change was requested, or in the 7 days before, no longer works.',
  },
  {
    address: `${listAddress}/reset-password`,
    title: 'Set a new password',
    path: '/v1/password-resets/confirm',
    button: 'Set the password',
    done: 'The new password is valid, and every device is logged out.',
    fields: `<label>New password <input name="password" type="password" autocomplete="new-password" required></label>\n`,
  },
];

export function createMailPages(assets: Assets): MailPages {
  const layout = createLayout(assets, [
    { address: listAddress, short: 'E-mails' },
    { address: '/docs', short: 'Documentation' },
  ]);
  const page = (title: string, address: string, html: string, scripts: readonly ScriptName[] = []): string => {
    const content = `<main id="content" class="page narrow mail">\n<article>\n${html}\n</article>\n</main>`;
    return layout.page({ title, address, section: listAddress, content, styles: ['mail.css'], scripts });
  };
  return {
    list: (emails, folder) => page('E-mails', listAddress, listHtml(emails, folder)),
    email: (email) => page(email.subject, addressOf(email), emailHtml(email)),
    locked: page('E-mails', listAddress, lockedHtml),
    ofTokens: new Map(
      tokenPages.map((one) => [one.address, page(one.title, one.address, tokenHtml(one), ['mail.js'])]),
    ),
  };
}

const lockedHtml = `<h1>E-mails</h1>
<section class="empty">
${sign('lock')}
<h2>This page needs a key</h2>
<p>The e-mails contain tokens that give access to accounts. Open the address that <code>npm start</code> prints
beside <code>e-mails</code>: it contains the key.</p>
</section>`;

function listHtml({ emails, total }: EmailList, folder: string): string {
  const rows = emails.map(
    (email) => `<tr><td data-label="Sent (UTC)">${time(email)}</td><td data-label="To">${escapeHtml(email.to)}</td>
<td data-label="Subject"><a href="${escapeHtml(addressOf(email))}">${escapeHtml(email.subject)}</a></td></tr>`,
  );
  const left = total - emails.length;
  const older = left > 0 ? `<p class="quiet">${left} older e-mails are not listed.</p>` : '';
  const none = `<section class="empty">
${sign('envelope')}
<h2>No e-mail was sent yet</h2>
<p>Register an account, then load this page again.</p>
<a class="button" href="/docs/reference/register-account">Register an account</a>
</section>`;
  const list = `<table class="folds"><thead><tr><th scope="col">Sent (UTC)</th><th scope="col">To</th>
<th scope="col">Subject</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>\n${older}`;
  return `<h1>E-mails</h1>
<p class="lead">The shop on this machine sends no e-mails. It writes them to <code>${escapeHtml(folder)}</code>, and this page shows them to programs on
this machine.</p>
${emails.length === 0 ? none : list}`;
}

function emailHtml(email: SentEmail): string {
  const { from, to, subject, text, html, headers } = email;
  const frame = `<iframe title="The e-mail as HTML" src="${escapeHtml(addressOf(email))}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`;
  const fields = headers.map(({ originalKey, value }) => `${originalKey}: ${value}`).join('\n');
  return `<p class="kicker"><a href="${listAddress}">E-mails</a></p>
<h1>${escapeHtml(subject)}</h1>
<dl>
<dt>From</dt><dd>${escapeHtml(from)}</dd>
<dt>To</dt><dd>${escapeHtml(to)}</dd>
<dt>Sent (UTC)</dt><dd>${time(email)}</dd>
</dl>
${html === undefined ? '' : frame}
<h2>As plain text</h2>
<pre class="text" tabindex="0" role="group" aria-label="The e-mail as plain text">${escapeHtml(text)}</pre>
<h2>Header</h2>
<pre class="text" tabindex="0" role="group" aria-label="The header of the e-mail">${escapeHtml(fields)}</pre>`;
}

function tokenHtml({ title, path, button, done, fields = '' }: TokenPage): string {
  return `<p class="kicker"><a href="${listAddress}">E-mails</a></p>
<h1>${title}</h1>
<p>This page sends the token of its address with <code>POST ${path}</code>, as a page of a storefront would. Only the shop of
<code>npm start</code> has it.</p>
<form id="use-token" class="card fields" data-path="${path}" data-done="${done}">
${fields}<button class="main">${button}</button>
</form>
<p id="result" class="notice" role="status"></p>`;
}

function addressOf({ name }: SentEmail): string {
  return `${listAddress}/${name}`;
}

/** Returns the time of an e-mail to the second, in UTC. */
function time({ sentAt }: SentEmail): string {
  const iso = sentAt.toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`;
}
