// Finds faults that JSON.parse does not report: duplicate members, and numbers that it rounds.
import { type Fault, maxFaults } from '../problem/index.ts';
import { toPointer } from './json-pointer.ts';

/**
 * Matches a number that may be rounded: 16 characters, or an exponent. It may also match within strings, which is
 * harmless.
 */
const doubtful = /(?:^|[\s:,[])-?(?:[\d.]{16}|[\d.]+[eE])/;

/**
 * Matches strings, numbers and separators in valid JSON. The pattern does not require the closing quote, because a
 * failed attempt would start again at each quote of a string.
 */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*|[{}[\],]/g;

interface Level {
  /** How often each member name occurred; undefined in an array. */
  readonly names: Map<string, number> | undefined;
  /** The member or element that is being read; undefined where a name follows. */
  at: string | number | undefined;
}

/**
 * Returns the faults of a JSON text that its value does not show. The meaning of a duplicate member differs between
 * parsers (RFC 8259 section 4), and a number that no double represents exactly would be rounded.
 * @param text has been parsed before
 * @param isRepeated whether the JSON text has more members than its value
 * @returns at most 100
 */
export function sourceFaults(text: string, isRepeated: boolean): Fault[] {
  if (!isRepeated && !doubtful.test(text)) return [];
  const faults: Fault[] = [];
  const open: Level[] = [];
  const refuse = (detail: string) => faults.push({ pointer: toPointer(open.map(({ at }) => at ?? '')), detail });
  for (const [token] of text.matchAll(tokens)) {
    if (faults.length === maxFaults) break;
    const level = open.at(-1);
    if (token === '{') open.push({ names: new Map(), at: undefined });
    else if (token === '[') open.push({ names: undefined, at: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',') {
      if (level !== undefined) level.at = typeof level.at === 'number' ? level.at + 1 : undefined;
    } else if (!token.startsWith('"')) {
      if (!isExact(token)) refuse(inexact);
    } else if (level?.names !== undefined && level.at === undefined) {
      const name = JSON.parse(token) as string;
      const times = (level.names.get(name) ?? 0) + 1;
      level.names.set(name, times);
      level.at = name;
      if (times === 2) refuse('must be given once');
    }
  }
  return faults;
}

/**
 * Returns the reason why an inexact number is rejected. Numbers of up to 15 digits are always exact; longer ones may
 * be.
 */
export const inexact = 'must be a number of at most 15 digits';

/** Returns whether a double represents exactly the number that a JSON text contains. */
export function isExact(source: string): boolean {
  return decimalOf(source) === decimalOf(String(Number(source)));
}

const numberText = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns the digits without leading and trailing zeros, and the power of ten of the last digit. Both are the same for
 * all notations of one number.
 */
function decimalOf(text: string): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = numberText.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = whole + fraction;
  let from = 0;
  let end = digits.length;
  while (digits[from] === '0') from += 1;
  // A loop, because a regular expression for trailing zeros would start again at each zero before them.
  while (end > from && digits[end - 1] === '0') end -= 1;
  return from === end ? '0' : `${digits.slice(from, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
