// The shop's currency: a code of ISO 4217, and its number of decimals.
import type { Variable } from '../runtime/config.ts';

/** Defines a variable with a currency code of ISO 4217 that has known decimals. */
export function currency(name: string, fallback: string): Variable<string> {
  return {
    name,
    fallback,
    parse(code) {
      if (!Intl.supportedValuesOf('currency').includes(code)) {
        throw new Error('must be a currency code of ISO 4217 in capitals, such as EUR');
      }
      return code;
    },
  };
}

/**
 * Returns the decimals of a currency: 2 for EUR, 0 for JPY. They are those of Unicode CLDR. CLDR has 0 for a currency
 * with a smaller unit that is no longer used, such as HUF, where ISO 4217 has 2.
 */
export function findDecimals(code: string): number {
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions().maximumFractionDigits ?? 2
  );
}
