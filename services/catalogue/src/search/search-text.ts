// Parses the search string (`q`), and returns its faults.
import type { Fault } from '@shop/shared/problem';

/** The maximum length in code points. */
export const longestSearch = 100;

const letterOrDigit = /[\p{L}\p{N}]/u;

/** @returns undefined when the string is valid; otherwise the rest of the sentence "q …" */
function faultOf(written: unknown): string | undefined {
  if (typeof written !== 'string') return 'must be one text';
  if (written.includes('\0') || !written.isWellFormed()) return 'must not contain NUL or lone surrogates';
  if (!letterOrDigit.test(written)) return 'must have a letter or a digit';
  return written.length > 2 * longestSearch || [...written].length > longestSearch
    ? `must have at most ${longestSearch} characters`
    : undefined;
}

export interface SearchText {
  /**
   * The string in Unicode's composed form (NFC), without surrounding blanks; undefined when it is absent or rejected.
   */
  readonly text: string | undefined;
  readonly faults: readonly Fault[];
}

/**
 * @param at the location of the string in the request
 * @param found faults that the contract check found; a string with such a fault gets no second one
 */
export function readSearchText(
  written: unknown,
  at: { parameter: string } | { pointer: string },
  found: readonly Fault[],
): SearchText {
  const isKnown = found.some((fault) =>
    'parameter' in at ? fault.parameter === at.parameter : fault.pointer === at.pointer,
  );
  if (written === undefined || isKnown) return { text: undefined, faults: [] };
  const detail = faultOf(written);
  if (detail !== undefined) return { text: undefined, faults: [{ ...at, detail }] };
  return { text: String(written).normalize('NFC').trim(), faults: [] };
}
