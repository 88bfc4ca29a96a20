// Composes e-mails as plain text and HTML with the same content.
import { escapeHtml } from '@shop/shared/runtime';
import type { Block, Content } from './email-content.ts';
import { valuesOf } from './email-values.ts';
import { isWithToken, type Occasion, repetitionOf } from './notification.ts';
import type { Recipient } from './recipient.ts';
import { inHtml, inText, linkBreak, oneLine, withoutLinks } from './safe-text.ts';
import type { Templates } from './templates.ts';
import type { TokenOpener } from './token-email.ts';

export interface Sender {
  readonly shopName: string;
  /** The sender's address without a display name. Its domain is also that of the Message-ID. */
  readonly address: string;
  readonly tokens: TokenOpener;
  readonly templates: Templates;
}

export interface Email {
  /** The file name, when e-mails are written as files. It is unique, and the same for each attempt. */
  readonly name: string;
  readonly messageId: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Composes the e-mail of a notification in the language of its recipient. Each attempt has the same Message-ID, so that
 * e-mail programs recognise duplicates.
 * @param resends the number of times that an operator has resent the e-mail; each of these e-mails has its own
 * Message-ID
 */
export function composeEmail(sender: Sender, recipient: Recipient, occasion: Occasion, resends = 0): Email {
  const { address, templates, tokens } = sender;
  // An e-mail with a token contains the name of its event. The name is absent when the address may belong to another
  // person.
  const { name: known = '' } = isWithToken(occasion) ? occasion.details : recipient;
  const name = withoutLinks(known);
  const shop = oneLine(sender.shopName);
  const texts = templates.textsFor(recipient.locale);
  const content = texts.contentOf(occasion.kind, name, valuesOf(occasion, texts, tokens));
  const { about, file } = identityOf(occasion, resends);
  return {
    name: `${about}.${file}`,
    // RFC 5322 section 3.6.4.
    messageId: `<${file}.${about}@${address.slice(address.lastIndexOf('@') + 1)}>`,
    from: { name: shop, address },
    to: { name: inText(name ?? ''), address: recipient.email },
    subject: content.subject,
    text: `${[...content.blocks.map(textOf), shop].join('\n\n')}\n`,
    html: htmlDocument(templates.layout, texts.language, shop, content),
  };
}

/** Returns the file name of the e-mail, when e-mails are files. */
export function toFileName(occasion: Occasion, resends: number): string {
  const { about, file } = identityOf(occasion, resends);
  return `${about}.${file}`;
}

/**
 * Returns the object of an e-mail, and the part of its kind that distinguishes it from other e-mails about the same
 * object.
 */
function identityOf(occasion: Occasion, resends: number): { readonly about: string; readonly file: string } {
  const { kind, details } = occasion;
  const about = 'orderId' in details ? details.orderId : details.eventId;
  const repetition = repetitionOf(details);
  const version = repetition === undefined ? '' : `.${repetition}`;
  const former = 'former' in details ? `.former-${details.former}` : '';
  return { about, file: `${kind}${version}${former}${resends === 0 ? '' : `.again-${resends}`}` };
}

function textOf(block: Block): string {
  if (typeof block === 'string') return inText(block);
  if ('link' in block) return block.link;
  const widthOf = (text: string): number => text.replaceAll(linkBreak, '').length;
  const width = Math.max(...block.rows.map(([first = '']) => widthOf(first)));
  const padded = (text: string): string => text + ' '.repeat(width - widthOf(text));
  return block.rows
    .map(([first = '', ...rest]) => inText([rest.length > 0 ? padded(first) : first, ...rest].join('  ')))
    .join('\n');
}

function htmlDocument(layout: string, language: string, shop: string, { subject, blocks }: Content): string {
  const parts: Readonly<Record<string, string>> = {
    '{language}': escapeHtml(language),
    '{subject}': escapeHtml(subject),
    '{shop}': escapeHtml(shop),
    '{content}': blocks.map(htmlOf).join('\n'),
  };
  return layout.replace(/\{(?:language|subject|shop|content)\}/g, (placeholder) => parts[placeholder] ?? '');
}

function htmlOf(block: Block): string {
  if (typeof block === 'string') return `<p>${inHtml(block)}</p>`;
  if ('link' in block) {
    const [link, label] = [escapeHtml(block.link), escapeHtml(block.label || block.link)];
    return `<p><a class="button" href="${link}">${label}</a><small>${link}</small></p>`;
  }
  const rows = block.rows.map((cells) => `<tr>${cells.map((cell) => `<td>${inHtml(cell)}</td>`).join('')}</tr>`);
  return `<table class="${block.style}">${rows.join('')}</table>`;
}
