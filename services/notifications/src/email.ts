// Composes e-mails: a plain text and simple HTML with the same content. A customer's text appears only as plain words,
// and in a header only as a plain name.
import type { EventPayloads } from '@shop/shared/events';
import { isAboutOrder, isWithToken, type Occasion, type TokenOccasion } from './notification.ts';
import { oneLine, plainName, plainSentence } from './plain-words.ts';
import type { Recipient } from './recipient.ts';
import { type TokenBlock, type TokenOpener, tokenContent } from './token-email.ts';

export interface Sender {
  readonly shopName: string;
  /** The bare address of the sender. Its domain is also that of the Message-ID. */
  readonly address: string;
  readonly tokens: TokenOpener;
}

export interface Email {
  /** The file name, when e-mails are files. Unique, and the same for each attempt. */
  readonly name: string;
  readonly messageId: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A line of text, rows of a table, or a link, which is never a customer's text. */
type Block = TokenBlock | readonly (readonly string[])[];

interface Content {
  readonly subject: string;
  readonly blocks: readonly Block[];
}

/**
 * Composes the e-mail of a notification. Each copy has the same Message-ID, so that e-mail programs recognise
 * duplicates.
 */
export function composeEmail(sender: Sender, recipient: Recipient, occasion: Occasion): Email {
  const name = plainName(recipient.name);
  const shopName = oneLine(sender.shopName);
  const about = isAboutOrder(occasion) ? occasion.details.orderId : occasion.details.eventId;
  const { subject, blocks } = isWithToken(occasion) ? openedContent(sender, occasion) : contentOf(occasion);
  const { kind } = occasion;
  const file = kind === 'order-lines-cancelled' ? `${kind}.${occasion.details.orderVersion}` : kind;
  const all: readonly Block[] = [
    name === undefined ? 'Hello,' : `Hello ${name},`,
    ...blocks,
    ...(isAboutOrder(occasion) ? [`Your order number is ${about}.`] : []),
    shopName,
  ];
  return {
    name: `${about}.${file}`,
    // RFC 5322 section 3.6.4.
    messageId: `<${file}.${about}@${sender.address.slice(sender.address.lastIndexOf('@') + 1)}>`,
    from: { name: shopName, address: sender.address },
    to: { name: name ?? '', address: recipient.email },
    subject,
    text: `${all.map(textOf).join('\n\n')}\n`,
    html:
      `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>\n` +
      `<body>\n${all.map(htmlOf).join('\n')}\n</body></html>\n`,
  };
}

function openedContent({ tokens }: Sender, { kind, details }: TokenOccasion): Content {
  return tokenContent(kind, tokens.open(kind, details), minuteOf(details.expiresAt));
}

function contentOf(occasion: Exclude<Occasion, TokenOccasion>): Content {
  switch (occasion.kind) {
    case 'order-received': {
      const { items, totalCost, currency } = occasion.details;
      const money = moneyFormat(currency);
      const rows = items.map((item) => [`${item.quantity} x ${oneLine(item.name)}`, money(item.lineTotal)]);
      return {
        subject: 'We have received your order',
        blocks: [
          'Thank you. We have received your order and will tell you when it ships.',
          [...rows, ['Total', money(totalCost)]],
        ],
      };
    }
    case 'order-shipped':
      return {
        subject: 'Your order is on its way',
        blocks: ['Your order has left our warehouse and is on its way to you.', ...trackingBlocks(occasion.details)],
      };
    case 'order-cancelled': {
      const { items, cancelledBy = 'customer' } = occasion.details;
      const reason = cancelledBy === 'system' ? undefined : plainSentence(occasion.details.reason ?? '');
      return {
        subject: 'Your order is cancelled',
        blocks: [
          `${cancellations[cancelledBy]} Nothing of it will be shipped.`,
          items.map((item) => [`${item.quantity} x ${oneLine(item.name)}`]),
          ...(reason === undefined ? [] : [`Reason: ${reason}`]),
        ],
      };
    }
    case 'order-lines-cancelled':
      return linesCancelled(occasion.details);
    case 'email-changed':
      return {
        subject: 'The e-mail address of your account was changed',
        blocks: [
          `The e-mail address of your account was changed on ${minuteOf(occasion.details.changedAt)}. ` +
            'Further e-mails go to the new address.',
          notYou,
        ],
      };
    case 'password-changed':
      return {
        subject: 'The password of your account was changed',
        blocks: [
          `The password of your account was changed on ${minuteOf(occasion.details.changedAt)}. ` +
            'Every device was logged out.',
          notYou,
        ],
      };
  }
}

function linesCancelled(details: EventPayloads['order.lines-cancelled.v1']): Content {
  const { items, remaining, totalCost, currency, cancelledBy } = details;
  const reason = plainSentence(details.reason ?? '');
  const money = moneyFormat(currency);
  return {
    subject: 'A part of your order is cancelled',
    blocks: [
      cancelledBy === 'staff' ? 'The shop has cancelled a part of your order:' : 'A part of your order is cancelled:',
      items.map((item) => [`${item.quantity} x ${oneLine(item.name)}`]),
      ...(reason === undefined ? [] : [`Reason: ${reason}`]),
      'Your order now has:',
      [
        ...remaining.map((item) => [`${item.quantity} x ${oneLine(item.name)}`, money(item.lineTotal)]),
        ['Total', money(totalCost)],
      ],
    ],
  };
}

/** The address that staff gave is the only link. Carrier and number are shown as plain words. */
function trackingBlocks({ tracking = {} }: EventPayloads['order.shipped.v1']): Block[] {
  const carrier = plainSentence(tracking.carrier ?? '');
  const number = plainSentence(tracking.tracking_number ?? '');
  const rows = [
    ...(carrier === undefined ? [] : [['Carrier', carrier]]),
    ...(number === undefined ? [] : [['Tracking number', number]]),
  ];
  const { tracking_url: link = '' } = tracking;
  return [...(rows.length > 0 ? [rows] : []), ...(link.startsWith('https://') ? [{ link: oneLine(link) }] : [])];
}

const cancellations = {
  customer: 'Your order is cancelled.',
  staff: 'The shop has cancelled your order.',
  system: 'Your order has expired and is cancelled.',
} as const;

const notYou = 'If you did not make this change, contact us immediately.';

/** An RFC 3339 time to the minute. */
function minuteOf(time: string): string {
  return `${time.slice(0, 10)} at ${time.slice(11, 16)} UTC`;
}

/** Currency → format. Kept because creating a format costs more than composing an e-mail. */
const formats = new Map<string, Intl.NumberFormat>();

function moneyFormat(currency: string): (amount: number) => string {
  const format =
    formats.get(currency) ?? new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' });
  formats.set(currency, format);
  return (amount) => format.format(amount).replaceAll('\u00a0', ' ');
}

function textOf(block: Block): string {
  if (typeof block === 'string') return block;
  if ('link' in block) return block.link;
  const width = Math.max(...block.map(([first = '']) => first.length));
  return block
    .map(([first = '', ...rest]) => [rest.length > 0 ? first.padEnd(width) : first, ...rest].join('  '))
    .join('\n');
}

function htmlOf(block: Block): string {
  if (typeof block === 'string') return `<p>${escapeHtml(block)}</p>`;
  if ('link' in block) return `<p><a href="${escapeHtml(block.link)}">${escapeHtml(block.link)}</a></p>`;
  const rows = block.map((cells) => `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`);
  return `<table>${rows.join('')}</table>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
