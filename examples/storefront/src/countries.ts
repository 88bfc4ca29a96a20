// The countries of addresses, by their codes of ISO 3166-1, with names in the language of the visitor.
import { h } from './dom.ts';
import { t } from './texts/customers.ts';

const codes =
  'AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD CF CG ' +
  'CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH ' +
  'GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY ' +
  'KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG ' +
  'NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM ' +
  'SN SO SR SS ST SV SX SY SZ TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK ' +
  'YE YT ZA ZM ZW';

export function countryName(code: string): string {
  try {
    return new Intl.DisplayNames(t.language, { type: 'region' }).of(code.toUpperCase()) ?? code;
  } catch {
    return code; // An address of another program may have a name here.
  }
}

/** Returns a list to choose from, sorted by name. */
export function countrySelect(name: string, chosen: string | undefined): HTMLSelectElement {
  const named = codes.split(' ').map((code) => [code, countryName(code)] as const);
  const known =
    chosen === undefined || named.some(([code]) => code === chosen) ? named : [...named, [chosen, chosen] as const];
  const sorted = known.toSorted(([, a], [, b]) => a.localeCompare(b, t.language));
  const options = sorted.map(([code, text]) => h('option', { value: code, selected: code === chosen }, text));
  const none = h('option', { value: '' }, t.chooseCountry);
  return h('select', { name, autocomplete: 'country', required: true }, none, options);
}

/** Returns the country of the browser's languages, such as `DE` of `de-DE`. */
export function likelyCountry(): string | undefined {
  const regions = navigator.languages.map((language) => new Intl.Locale(language).region);
  return regions.find((region) => region !== undefined && codes.includes(region));
}
