// The values that the templates of e-mails may use, for each kind. Text from customers and staff never becomes a link.
import type { EventPayloads } from '@shop/shared/events';
import type { EmailValues, Table, Wording } from './email-content.ts';
import type { Occasion } from './notification.ts';
import { withoutLinks } from './safe-text.ts';
import type { TokenOpener } from './token-email.ts';

/** @throws Error when the token of an e-mail cannot be decrypted */
export function valuesOf(occasion: Occasion, wording: Wording, tokens: TokenOpener): EmailValues {
  switch (occasion.kind) {
    case 'order-received': {
      const { orderId, items, totalCost: amount, currency, shippingAddress, paymentDueAt } = occasion.details;
      return {
        orderId,
        lines: amounts(items, occasion.details, wording),
        ...(paymentDueAt !== undefined && {
          amount: money({ amount, currency }, wording),
          payBy: minuteOf(paymentDueAt, wording),
        }),
        address: address(shippingAddress),
      };
    }
    case 'order-paid':
    case 'order-refunded':
      return { orderId: occasion.details.orderId, amount: money(occasion.details, wording) };
    case 'order-refund-due': {
      const { orderId, currency, cause, orderCost: cost } = occasion.details;
      const orderCost = cost === undefined ? undefined : money({ amount: cost, currency }, wording);
      return { orderId, amount: money(occasion.details, wording), cause: refundCauses[cause], orderCost };
    }
    case 'order-shipped': {
      const { orderId, items, shippingAddress, tracking = {}, invoiceNumber } = occasion.details;
      return {
        orderId,
        invoiceNumber,
        lines: units(items),
        address: address(shippingAddress),
        ...toTracking(tracking, wording),
      };
    }
    case 'order-cancelled': {
      const { orderId, items, cancelledBy = 'customer' } = occasion.details;
      const reason = cancelledBy === 'system' ? undefined : withoutLinks(occasion.details.reason ?? '');
      return { orderId, lines: units(items), cancelledBy, reason, refund: refundOf(occasion.details, wording) };
    }
    case 'order-lines-cancelled': {
      const { orderId, items, remaining, cancelledBy } = occasion.details;
      const reason = withoutLinks(occasion.details.reason ?? '');
      const rest = amounts(remaining, occasion.details, wording);
      const refund = refundOf(occasion.details, wording);
      return { orderId, lines: units(items), remaining: rest, cancelledBy, reason, refund };
    }
    case 'order-return-requested':
    case 'order-return-approved':
      return { orderId: occasion.details.orderId, lines: units(occasion.details.lines) };
    case 'order-return-refused': {
      const { orderId, lines, reason } = occasion.details;
      return { orderId, lines: units(lines), reason: withoutLinks(reason ?? '') };
    }
    case 'order-return-received': {
      const { orderId, lines, creditNoteNumber } = occasion.details;
      const arrived = lines.length === 0 ? undefined : units(lines);
      return { orderId, lines: arrived, refund: refundOf(occasion.details, wording), creditNoteNumber };
    }
    case 'email-changed':
    case 'password-changed':
    case 'erasure-requested':
    case 'erasure-reminder': {
      const { changedAt, eraseAt, former } = occasion.details;
      return {
        changedAt: minuteOf(changedAt, wording),
        eraseAt: eraseAt === undefined ? undefined : minuteOf(eraseAt, wording),
        sentTo: former === undefined ? 'account' : 'formerAddress',
      };
    }
    case 'webhook-failing': {
      const { host, webhookId, stage, failingSince } = occasion.details;
      return {
        ...{ host: withoutLinks(host), webhookId, stage: webhookStages[stage] ?? 'hour' },
        failingSince: minuteOf(failingSince, wording),
      };
    }
    default: {
      const { token, link } = tokens.open(occasion.kind, occasion.details);
      const until = minuteOf(occasion.details.expiresAt, wording);
      // Either the operator's link, or the token with the request that uses it.
      return link === undefined ? { until, token, request: tokenRequests[occasion.kind] } : { until, link };
    }
  }
}

const tokenRequests = {
  'email-verification': 'POST /v1/email-verifications',
  'email-change-undo': 'POST /v1/email-verifications/undo',
  'password-reset': 'POST /v1/password-resets/confirm',
} as const;

/** Names of the choices in a message, because a choice may not contain a hyphen. */
const webhookStages: Readonly<Record<string, string>> = {
  'failing-1-hour': 'hour',
  'failing-24-hours': 'day',
  suspended: 'suspended',
  unanswered: 'unanswered',
  ended: 'ended',
};

/** Names of the choices in a message, as above. */
const refundCauses: Readonly<Record<EventPayloads['refund.due.v1']['cause'], string>> = {
  cancelled: 'cancelled',
  'paid-before': 'paidBefore',
  'amount-differs': 'amountDiffers',
  'lines-cancelled': 'linesCancelled',
};

interface Item {
  readonly name: string;
  readonly quantity: number;
}

function unitsOf({ name, quantity }: Item): string {
  return `${quantity} × ${withoutLinks(name) ?? ''}`;
}

function units(items: readonly Item[] | undefined): Table | undefined {
  return items && { style: 'details', rows: items.map((item) => [unitsOf(item)]) };
}

type Priced = Pick<
  EventPayloads['order.created.v1'],
  'shipping' | 'discounts' | 'taxes' | 'pricesIncludeTax' | 'taxExempt' | 'taxExemption' | 'totalCost' | 'currency'
>;

/** Returns the lines, shipping, discounts, taxes, and the total of an order. */
function amounts(
  items: readonly (Item & { readonly lineTotal: number })[],
  { shipping, discounts = [], taxes = [], pricesIncludeTax, taxExempt, taxExemption = 0, totalCost, currency }: Priced,
  { language, labels }: Wording,
): Table {
  const format = moneyFormat(language, currency);
  const percent = percentFormat(language);
  const rows = items.map((item) => [unitsOf(item), format(item.lineTotal)]);
  if (shipping !== undefined) {
    const name = shipping.name[language] ?? Object.values(shipping.name)[0] ?? '';
    rows.push([`${labels.shipping}: ${withoutLinks(name) ?? ''}`, format(shipping.price)]);
  }
  for (const { name, amount } of discounts) rows.push([withoutLinks(name) ?? '', format(-amount)]);
  for (const { name, rate, amount } of taxes) {
    const tax = `${withoutLinks(name) ?? ''} ${percent(rate / 100)}`;
    rows.push([pricesIncludeTax ? `${labels.including} ${tax}` : tax, format(amount)]);
  }
  if (taxExempt) rows.push([labels.reverseCharge, format(0 - taxExemption)]);
  return { style: 'amounts', rows: [...rows, [labels.total, format(totalCost)]] };
}

interface Money {
  readonly amount: number;
  readonly currency: string;
}

function money({ amount, currency }: Money, { language }: Wording): string {
  return moneyFormat(language, currency)(amount);
}

function refundOf({ refund }: { readonly refund?: Money }, wording: Wording): string | undefined {
  return refund && money(refund, wording);
}

type Address = NonNullable<EventPayloads['order.created.v1']['shippingAddress']>;

/** Returns the lines of an address; undefined when it has none. */
function address(given: Address | undefined): Table | undefined {
  const { recipient, street_address, city, region, postal_code, country } = given ?? {};
  const place = [postal_code, city].filter((part) => part !== undefined).join(' ');
  const rows = [recipient, street_address, place, region, country].flatMap((line) => withoutLinks(line ?? '') ?? []);
  return rows.length === 0 ? undefined : { style: 'plain', rows: rows.map((row) => [row]) };
}

type Tracking = NonNullable<EventPayloads['order.shipped.v1']['tracking']>;

/**
 * Returns the tracking values. The only link is the address that staff gave, in ASCII, so that no character resembles
 * another one.
 */
function toTracking(tracking: Tracking, { labels }: Wording): Pick<EmailValues, 'tracking' | 'link'> {
  const carrier = withoutLinks(tracking.carrier ?? '');
  const number = withoutLinks(tracking.tracking_number ?? '');
  const rows = [
    ...(carrier === undefined ? [] : [[labels.carrier, carrier]]),
    ...(number === undefined ? [] : [[labels.trackingNumber, number]]),
  ];
  const url = URL.parse(tracking.tracking_url ?? '');
  const isLink = url?.protocol === 'https:' && url.username === '' && url.password === '';
  return { ...(rows.length > 0 && { tracking: { style: 'details', rows } }), ...(isLink && { link: url.href }) };
}

/** Returns a time to the minute, in UTC. */
function minuteOf(time: string, { language }: Wording): string {
  const format = kept(`${language} time`, () => {
    const { format } = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
    return (milliseconds) => `${format(milliseconds)} UTC`;
  });
  return format(Date.parse(time));
}

function moneyFormat(language: string, currency: string): (amount: number) => string {
  return kept(
    `${language} ${currency}`,
    () => new Intl.NumberFormat(language, { style: 'currency', currency, currencyDisplay: 'code' }).format,
  );
}

function percentFormat(language: string): (share: number) => string {
  const options = { style: 'percent', maximumFractionDigits: 4 } as const;
  return kept(`${language} percent`, () => new Intl.NumberFormat(language, options).format);
}

type Format = (value: number) => string;

/** Formats are cached, because creating one costs more than composing an e-mail. */
const formats = new Map<string, Format>();

/** @returns a format that uses ordinary blanks, because many fonts lack non-breaking ones */
function kept(key: string, create: () => Format): Format {
  const known = formats.get(key);
  if (known !== undefined) return known;
  const created = create();
  const format: Format = (value) => created(value).replace(/[\u00a0\u202f]/g, ' ');
  formats.set(key, format);
  return format;
}
