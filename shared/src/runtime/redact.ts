// Removes secrets and e-mail addresses from the log. The values of members with known names are replaced. Every line is
// also searched, because a message may contain a secret.

/** Names of members with secret values. */
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
  // User and password in a URL.
  [/(\w:\/\/)[^\s/@"'\\]+@/g, `$1${censored}@`],
  // A signed token, complete or truncated.
  [/\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g, censored],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${censored}`],
  // A member in quoted JSON, such as `{\"password\":\"…\"}`.
  [/(\\?"(?:password|access_token|refresh_token|cookie)\\?"\s*:\s*\\?")(?:[^"\\]|\\[^"])+/gi, `$1${censored}`],
];

/**
 * Matches every e-mail address that the shop accepts, and more. It searches backwards from an `@`, which few lines
 * contain, so that the time is linear in the length of the line. In a JSON line, an address ends at a quote or
 * backslash, and may begin after an escape such as `\n` or `\u0001`. A domain of digits alone is a package version and
 * does not match.
 */
const address =
  /@(?<=((?<!(?<!\\)(?:\\\\)*\\(?:u[\da-f]{0,3})?)[^\s\p{Cc}"\\<>()[\],:;@]{1,254})@)(?=[\p{N}.-]*[\p{L}\p{M}])[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+/gu;

/** Returns the line without e-mail addresses, tokens and passwords. */
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
