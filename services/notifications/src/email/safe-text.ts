// Makes text from customers and staff safe for e-mails. An attacker may have written it, so no e-mail program may turn
// a part of it into a link. Every character stays, because the text can be a postal address or a name.
import { escapeHtml } from '@shop/shared/runtime';

/**
 * Separates the parts of a string, so that it does not become a link. It is a control character, which `oneLine`
 * removes from its input.
 */
export const linkBreak = '\u001f';

/** The full stop, and the characters that are one in a host name (UTS #46), or look like one. */
const dot = '.\u2024\u3002\ufe52\uff0e\uff61';
const colon = ':\ufe55\uff1a';
const at = '@\ufe6b\uff20';

const ipv4Address = new RegExp(`(?<!\\p{N})\\p{N}+(?:[${dot}]\\p{N}+){3,}`, 'gu');
/** Not between two digits, as in amounts and times. */
const insideName = `[${dot}${colon}](?=[^\\s${linkBreak}${dot}])(?:(?<!\\p{N}.)|(?!\\p{N}))`;
const atSign = `[${at}](?=\\S)`;
const uncPath = `\\\\(?=\\\\)`;
/** RFC 2047; only a header can have one. */
const encodedWord = `=(?=\\?)`;
/**
 * The other positions at which a link could begin or continue. Each position takes few steps, even in the longest
 * string.
 */
const places = new RegExp(`${insideName}|${atSign}|${uncPath}|${encodedWord}`, 'gu');
const dots = new RegExp(`[${dot}]`, 'gu');
const brokenCharacters = new RegExp(`(.)${linkBreak}`, 'gu');

/**
 * Returns a text on one line, with `linkBreak` wherever an e-mail program could see a link.
 * @returns undefined when nothing of it can be seen
 * @example withoutLinks('ul.Marszałkowska 1') // 'ul.\u001fMarszałkowska 1'
 */
export function withoutLinks(text: string): string | undefined {
  const line = oneLine(text);
  if (/^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(line)) return undefined;
  return line
    .replace(ipv4Address, (address) => address.replace(dots, `$&${linkBreak}`))
    .replace(places, `$&${linkBreak}`);
}

/** Removes line breaks, which could start another line or header, and characters that change the text direction. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** Converts a string with link breaks into plain text. */
export function inText(text: string): string {
  return text.replaceAll(linkBreak, '\u200b');
}

/**
 * Converts a string with link breaks into HTML, where markup separates the character before each break from its
 * neighbours.
 */
export function inHtml(text: string): string {
  return escapeHtml(text).replace(brokenCharacters, '<span>$1</span>');
}
