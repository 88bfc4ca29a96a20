// Quotes: the price of an order as a text that only the shop can make, so that nothing is stored.
import { createHash } from 'node:crypto';
import type { Encryption } from '@shop/shared/auth';
import { toNode } from '@shop/shared/contract';
import type { NewOrder } from './place-order.ts';
import type { WantedLine } from './stock-reservation.ts';

export type QuotableOrder = Pick<NewOrder, 'lines' | 'totalMinor' | 'priced'>;

/** The parts of a total, in minor units. */
export interface PriceParts {
  readonly shipping: number;
  readonly discount: number;
  readonly tax: number;
}

export interface Quote {
  /** A time of RFC 3339. */
  readonly validUntil: string;
  /** A digest of the products and quantities. */
  readonly items: string;
  /** The prices of single units, in the order of the lines. */
  readonly unitsMinor: readonly number[];
  readonly parts: PriceParts;
  readonly totalMinor: number;
}

const validMinutes = 15;
const label = 'quote';

/** Returns the quote of a price as a text, and the time until which it is valid. */
export function sealQuote(encryption: Encryption, { lines, totalMinor, priced }: QuotableOrder, at: Date) {
  const validUntil = new Date(at.getTime() + validMinutes * 60_000).toISOString();
  const quote: Quote = {
    validUntil,
    items: digestOf(lines),
    unitsMinor: lines.map(({ unitPriceMinor }) => unitPriceMinor),
    parts: partsOf(priced),
    totalMinor,
  };
  return { quote: encryption.encrypt(JSON.stringify(quote), label), validUntil };
}

/** Returns undefined for a text that the shop did not encrypt, or with a secret that it no longer has. */
export function openQuote(encryption: Encryption, text: string): Quote | undefined {
  try {
    // Only this module encrypts with this label.
    return toNode(JSON.parse(encryption.decrypt(text, label))) as unknown as Quote;
  } catch {
    return undefined;
  }
}

export function isQuoteOf({ items }: Quote, lines: readonly WantedLine[]): boolean {
  return items === digestOf(lines);
}

export function partsOf(priced: NewOrder['priced']): PriceParts {
  const { shipping, discountsMinor = [], taxes = [] } = priced?.totals ?? {};
  return {
    shipping: shipping?.priceMinor ?? 0,
    discount: discountsMinor.reduce((sum, amount) => sum + amount, 0),
    tax: taxes.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
  };
}

function digestOf(lines: readonly WantedLine[]): string {
  const wanted = lines.map(({ productId, quantity }) => `${productId} ${quantity}`).sort();
  return createHash('sha256').update(wanted.join('\n')).digest('base64url');
}
