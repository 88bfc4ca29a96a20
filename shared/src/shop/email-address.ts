// E-mail addresses: parsed once, compared and mailed in their ASCII notation, and shown as they were written.
import { domainToASCII } from 'node:url';

export interface EmailAddress {
  /** As it was written, without surrounding blanks, in NFC. */
  readonly written: string;
  /** With the domain in ASCII: the address that a mail server gets. */
  readonly ascii: string;
  /** Equal for all notations of one address: `ascii` in lower case. */
  readonly key: string;
}

// RFC 5321 section 4.5.3.1: octets of the part before the `@`, and of a path without its brackets. RFC 1035 section
// 2.3.4: octets of a label and of a domain.
const longestLocalPart = 64;
const longestAddress = 254;
const longestDomain = 253;

/** Ignorable characters are rejected, because two addresses that differ in them look the same. */
const localPart =
  /^(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/**
 * The characters that `domainToASCII` accepts: those of names, the full stops of UTS #46, and ignorable characters. It
 * would remove the rest after a slash, and decode a percent sign.
 */
const domainCharacters = /^[\p{L}\p{M}\p{N}\p{Default_Ignorable_Code_Point}.\u3002\uff0e\uff61-]+$/u;
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Parses an address and converts its domain by UTS #46. Quoted local parts, comments and addresses of hosts are not
 * accepted.
 * @returns undefined when the string is not an address to which an e-mail can be sent
 * @example parseEmail(' Kim@Bücher.example ')?.key // 'kim@xn--bcher-kva.example'
 */
export function parseEmail(text: string): EmailAddress | undefined {
  const written = text.normalize('NFC').trim();
  const at = written.lastIndexOf('@');
  const local = written.slice(0, Math.max(at, 0));
  const domain = written.slice(at + 1);
  if (!localPart.test(local) || Buffer.byteLength(local) > longestLocalPart) return undefined;
  const asciiDomain = domainCharacters.test(domain) ? domainToASCII(domain) : '';
  if (!isDomain(asciiDomain)) return undefined;
  const ascii = `${local}@${asciiDomain}`;
  if (Buffer.byteLength(ascii) > longestAddress) return undefined;
  return { written, ascii, key: lowerCase(ascii) };
}

/**
 * Returns whether the string is a domain. A number at the end would be an IPv4 address, to which `domainToASCII`
 * completes shorter numbers, too.
 */
function isDomain(ascii: string): boolean {
  const labels = ascii.split('.');
  const last = labels.at(-1) ?? '';
  return ascii.length <= longestDomain && labels.length > 1 && /[a-z]/.test(last) && labels.every((e) => label.test(e));
}

/** Returns the normalized address for comparisons. A string that is not an address is only converted to lower case. */
export function emailKey(email: string): string {
  return parseEmail(email)?.key ?? unparsedEmailKey(email);
}

/**
 * Returns the address without a conversion of the domain: NFC, without surrounding blanks, lower case. Releases until
 * 1.1 compare this value.
 */
export function unparsedEmailKey(email: string): string {
  return lowerCase(email.normalize('NFC').trim());
}

/** Converts a string to lower case and NFC again, because lower-casing can change the normalization. */
function lowerCase(text: string): string {
  return text.toLowerCase().normalize('NFC');
}
