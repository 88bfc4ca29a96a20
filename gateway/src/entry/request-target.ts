// Parses the request target: each path is normalized, so that every parser reads it in the same way.
import { Problem } from '@shop/shared/problem';
import { withLowerCaseIds } from '@shop/shared/runtime';

// Printable ASCII without `#`, which a request target cannot contain.
const visible = /^[\x21\x22\x24-\x7e]+$/;
// Characters that change their meaning when an upstream server decodes or resolves them.
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

export interface RequestTarget {
  /** The normalized path: unreserved characters are not encoded, and ids are in lower case. */
  readonly path: string;
  /** The path and the query, which is unchanged. */
  readonly target: string;
}

/**
 * Returns the authority and the path of a target in absolute-form (RFC 9112 section 3.2.2); undefined for another form.
 */
export function splitAbsoluteForm(target: string): { authority: string; target: string } | undefined {
  const [, authority, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (authority === undefined) return undefined;
  return { authority, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/**
 * Parses a request target in origin-form (RFC 9112 section 3.2.1).
 * @throws Problem 414 past `maximum` bytes; 400 for another form or an ambiguous path; 404 for a path that no resource
 * has: upper-case letters outside ids, other escapes, a trailing slash
 */
export function readRequestTarget(given: string, maximum: number): RequestTarget {
  if (given.length > maximum) {
    throw new Problem('uri-too-long', `The request target is longer than ${maximum} bytes.`);
  }
  if (!given.startsWith('/')) throw invalid('The request target must be a path.');
  if (!visible.test(given)) throw invalid('The request target contains a character that must be encoded.');
  const end = given.indexOf('?');
  const givenPath = end < 0 ? given : given.slice(0, end);
  // Every further check sees the decoded path, and only this path is forwarded.
  const path = withLowerCaseIds(decodeUnreserved(givenPath));
  if (plain.test(path)) return { path, target: path + given.slice(givenPath.length) };
  const reason = ambiguous.find(([pattern]) => pattern.test(path))?.[1];
  if (reason !== undefined) throw invalid(`The path contains ${reason}.`);
  throw new Problem('not-found', 'There is nothing at this address.');
}

/** Decodes once the escapes that mean the same as their character (RFC 3986 section 6.2.2.2). */
function decodeUnreserved(path: string): string {
  return path.replaceAll(/%(?:2[de]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi, (encoded) =>
    String.fromCharCode(Number.parseInt(encoded.slice(1), 16)),
  );
}

function invalid(detail: string): Problem {
  return new Problem('invalid-request', detail);
}
