// What JSON.parse keeps to itself: members that are given more than once, and numbers that it rounds.
import { type Fault, maxFaults } from '../problem/index.ts';
import { pointerOf } from './json-pointer.ts';

/** A number that may not survive: 16 characters, or an exponent. Also found in texts, where it does no harm. */
const doubtful = /(?:^|[\s:,[])-?(?:[\d.]{16}|[\d.]+[eE])/;

/**
 * Texts, numbers and what separates them; what stands between is known to be JSON already. The closing quote is there.
 * The pattern does not ask for it: an attempt that fails would begin anew at each quote of a text.
 */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*|[{}[\],]/g;

interface Level {
  /** How often each member has been named; undefined in an array. */
  readonly names: Map<string, number> | undefined;
  /** The member or element that is being read; undefined where a name comes next. */
  at: string | number | undefined;
}

/**
 * The faults of a JSON text that its value does not show: a member given more than once has no meaning that everybody
 * shares (RFC 8259 section 4), and a number that no double holds would be guessed.
 * @param text has been parsed before
 * @param isRepeated whether the text has more members than its value
 * @returns at most 100
 */
export function sourceFaults(text: string, isRepeated: boolean): Fault[] {
  if (!isRepeated && !doubtful.test(text)) return [];
  const faults: Fault[] = [];
  const open: Level[] = [];
  const refuse = (detail: string) => faults.push({ pointer: pointerOf(open.map(({ at }) => at ?? '')), detail });
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

/** Why a number that is not exact is refused. Up to 15 digits always survive; more may. */
export const inexact = 'must be a number of at most 15 digits';

/** Whether a double holds exactly the number that a text spells as JSON does. */
export function isExact(source: string): boolean {
  return decimalOf(source) === decimalOf(String(Number(source)));
}

const numberText = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Digits without zeros around them, and the power of ten of the last one: the same for all spellings of one number. */
function decimalOf(text: string): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = numberText.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = whole + fraction;
  let from = 0;
  let end = digits.length;
  while (digits[from] === '0') from += 1;
  // By hand: a pattern for zeros at the end would begin anew at each zero before it.
  while (end > from && digits[end - 1] === '0') end -= 1;
  return from === end ? '0' : `${digits.slice(from, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
