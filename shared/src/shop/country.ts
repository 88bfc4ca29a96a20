// Countries: the codes of ISO 3166-1.
import type { Variable } from '../runtime/config.ts';

/** Codes that Unicode CLDR names, and that ISO 3166-1 assigns to no country. */
const unassigned = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '));

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** Returns whether the text is the code of a country in ISO 3166-1 alpha-2, such as CH. XK for Kosovo is one, too. */
export function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || unassigned.has(code)) return false;
  // A former or informal code, such as UK, is replaced by that of the country.
  return new Intl.Locale(`und-${code}`).region === code && names.of(code) !== undefined;
}

/** The rest of the sentence "must be …". */
export const countryExpected = 'a country code of ISO 3166-1 in capitals, such as CH';

/** Defines a variable with a country code of ISO 3166-1. */
export function country(name: string): Variable<string> {
  return {
    name,
    fallback: undefined,
    parse(code) {
      if (!isCountry(code)) throw new Error(`must be ${countryExpected}`);
      return code;
    },
  };
}
