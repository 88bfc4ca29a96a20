// The request target: each path has exactly one accepted form, which every parser reads in the same way.
import { Problem } from '@shop/shared/problem';

// Printable ASCII without `#`, which a request target cannot contain.
const visible = /^[\x21\x22\x24-\x7e]+$/;
// Text whose meaning changes when a server behind the gateway decodes or resolves it.
const ambiguous: readonly [RegExp, string][] = [
  [/\\|%5c/i, 'a backslash'],
  [/%2f/i, 'an encoded slash'],
  [/%00/, 'NUL'],
  [/;/, 'a path parameter'],
  [/\/\//, 'an empty segment'],
  [/\/(?:\.|%2e){1,2}(?:\/|$)/i, 'a dot segment'],
];
// No segment begins with a dot, except `.well-known` (RFC 8615).
const plain = /^(?:\/\.well-known)?(?:\/[a-z0-9_~-][a-z0-9._~-]*)+$/;

/**
 * The path of a request target.
 * @throws Problem 414 past `maximum` bytes; 400 for another form than origin-form (RFC 9112 section 3.2.1) or an
 *   ambiguous path; 404 for a path in a form that no resource has: upper-case letters, escapes, a trailing slash
 */
export function readRequestTarget(target: string, maximum: number): string {
  if (target.length > maximum) {
    throw new Problem('uri-too-long', `The request target is longer than ${maximum} bytes.`);
  }
  if (!target.startsWith('/')) throw invalid('The request target must be a path.');
  if (!visible.test(target)) throw invalid('The request target contains a character that must be encoded.');
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  if (plain.test(path)) return path;
  const reason = ambiguous.find(([pattern]) => pattern.test(path))?.[1];
  if (reason !== undefined) throw invalid(`The path contains ${reason}.`);
  throw new Problem('not-found', 'There is nothing at this address.');
}

function invalid(detail: string): Problem {
  return new Problem('invalid-request', detail);
}
