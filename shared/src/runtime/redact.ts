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
  // An e-mail address: part of a line that is JSON, so that quotes and backslashes end it.
  [/[^\s"'<>()[\]{},:;=\\/@]+@[^\s"'<>()[\]{},:;=\\/@]+\.\p{L}{2,}/gu, censored],
  // A member of a text that was quoted, such as `{\"password\":\"…\"}`.
  [/(\\?"(?:password|access_token|refresh_token|cookie)\\?"\s*:\s*\\?")(?:[^"\\]|\\[^"])+/gi, `$1${censored}`],
];

/** A line of the log without addresses of people, tokens and passwords. */
export function redact(line: string): string {
  let text = line;
  for (const [pattern, replacement] of patterns) text = text.replace(pattern, replacement);
  return text;
}
