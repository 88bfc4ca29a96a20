// The shop's currency: a code of ISO 4217, which defines its number of decimals.
import type { Variable } from './config.ts';

/** A currency code of ISO 4217 with known decimals. */
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

/** Returns the decimals of an ISO 4217 currency: 2 for EUR, 0 for JPY. */
export function decimalsOf(code: string): number {
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions().maximumFractionDigits ?? 2
  );
}
