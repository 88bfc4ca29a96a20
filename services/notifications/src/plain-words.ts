// The part of a customer's text that an e-mail may repeat. A stranger may have written it, so a name or a reason must
// not deliver links or addresses to the recipient.

/**
 * Characters that are not displayed. They can hide an address from the checks below (Unicode:
 * Default_Ignorable_Code_Point).
 */
const ignorable = /\p{Default_Ignorable_Code_Point}/gu;
/** Dots that NFKC does not change, and that resolvers of host names treat as a full stop (UTS #46). */
const otherDots = /[\u3002\uff61]/g;

/**
 * Texts that an e-mail program could turn into a link. Each pattern takes few steps for each character, even in the
 * longest text.
 */
const addresses = [
  // A scheme, an e-mail address, a percent-encoded byte, the beginning of an encoded word (RFC 2047).
  /:\/\/|@|%[0-9a-f]{2}|=\?/i,
  /\b(?:www\b|mailto:|tel:|sms:)/i,
  // A host name, an IPv4 address.
  /[^\s.]\.[\p{M}\p{N}_-]*\p{L}[\p{L}\p{M}\p{N}_-]/u,
  /[^\s.]\.[\p{N}_-]+\p{L}/u,
  /\d\.\d+\.\d+\.\d/,
];

const personName = /^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N} .,'’-]*$/u;

const longestName = 80;
const longestReason = 300;

/**
 * Returns a name that is safe in a greeting and in the header `To`: it consists of letters, digits, blanks and the
 * punctuation of names.
 * @returns undefined for any other name, which the e-mail then omits
 */
export function plainName(name: string): string | undefined {
  const line = oneLine(name);
  return personName.test(line) && !mayHoldAddress(line) ? shortened(line, longestName) : undefined;
}

/**
 * Returns a text on one line.
 * @returns undefined when it is empty, or when an e-mail program could turn a part of it into a link
 */
export function plainSentence(text: string): string | undefined {
  const line = oneLine(text);
  return line === '' || mayHoldAddress(line) ? undefined : shortened(line, longestReason);
}

/**
 * Removes line breaks, which could begin another line or header, and characters that change the direction of the text.
 */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

function mayHoldAddress(line: string): boolean {
  const shown = line.replace(ignorable, '').normalize('NFKC').replace(otherDots, '.');
  return addresses.some((address) => address.test(shown));
}

function shortened(line: string, longest: number): string {
  const characters = [...line];
  return characters.length <= longest
    ? line
    : `${characters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`;
}
