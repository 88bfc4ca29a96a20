// What no log may hold. Members of that name are censored where they are known; the text of every line is looked through besides,
// because a message may quote what it should not.

/** Names of members whose values are secret. */
export const secretMembers: readonly string[] = [
  'password',
  'access_token',
  'refresh_token',
  'authorization',
  'Authorization',
  'cookie',
  'set-cookie',
  'secret',
];

const censored = '[redacted]';

const patterns: readonly (readonly [RegExp, string])[] = [
  // Name and password in an address.
  [/(\w:\/\/)[^\s/@"'\\]+@/g, `$1${censored}@`],
  // A signed token, whole or cut short.
  [/\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g, censored],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${censored}`],
  // A member of a text that was quoted, such as `{\"password\":\"…\"}`.
  [/(\\?"(?:password|access_token|refresh_token|cookie)\\?"\s*:\s*\\?")(?:[^"\\]|\\[^"])+/gi, `$1${censored}`],
];

/**
 * An e-mail address as the shop takes it, and wider: from its `@`, which few lines hold, backwards, so that a line costs no more time
 * than it is long. In a line that is JSON a quote or backslash ends it, and it begins past an escape such as `\n` or `\u0001`. A name
 * of figures alone is the version of a package.
 */
const address =
  /@(?<=((?<!(?<!\\)(?:\\\\)*\\(?:u[\da-f]{0,3})?)[^\s\p{Cc}"\\<>()[\],:;@]{1,254})@)(?=[\p{N}.-]*[\p{L}\p{M}])[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+/gu;

/** A line of the log without addresses of people, tokens and passwords. */
export function redact(line: string): string {
  let text = line;
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement);
  return text.includes('@') ? withoutAddresses(text) : text;
}

function withoutAddresses(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { index, 0: atDomain, 1: local = '' } of text.matchAll(address)) {
    kept.push(text.slice(from, Math.max(from, index - local.length)), censored);
    from = index + atDomain.length;
  }
  return kept.join('') + text.slice(from);
}
