// Amounts of money in tables.
import { findDecimals } from '@shop/shared/shop';

/** Returns an amount with all decimals of its currency. @param amount in major units */
export function money(amount: number, currency: string): string {
  return `${amount.toFixed(findDecimals(currency))} ${currency}`;
}
