// Conditional requests: entity tags made of the row version, If-Match and If-None-Match.
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../problem/index.ts';

/** The strong entity tag of a row version; the same for every projection of the resource. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/**
 * The entity tag where the response also depends on the caller: weak, because two callers get different bytes.
 * @param version of the row, or followed by further versions and figures of the response, separated by full stops
 */
export function weakEtagOf(version: number | string): string {
  return `W/"${version}"`;
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '');
}

// The comma between two tags and one inside a tag look alike, so a list is read from tag to tag.
const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const tagList = new RegExp(String.raw`^[ \t,]*${tag}(?:[ \t]*,[ \t,]*${tag})*[ \t,]*$`);
const eachTag = new RegExp(tag, 'g');

/**
 * The tags of a list, or '*'.
 * @throws Problem 400 when the header is not a list of entity tags (RFC 9110 section 8.8.3)
 */
function parseTags(name: string, value: string): '*' | readonly string[] {
  if (value.trim() === '*') return '*';
  if (!tagList.test(value)) {
    throw new Problem('invalid-request', `${name} must be a list of entity tags.`, {
      errors: [{ header: name, detail: 'must be "*" or entity tags in double quotes' }],
    });
  }
  return value.match(eachTag) ?? [];
}

/** The tag of the version alone. */
function withoutState(tag: string): string {
  return tag.replace(/^((?:W\/)?"[0-9]+)\.[0-9.]+"$/, '$1"');
}

/**
 * Compares `If-Match` with the tags of the present version, character by character (RFC 9110 section 13.1.1). What
 * follows the version in a tag is not compared. Call it with the row locked.
 * @param current the strong tag, and the weak one where responses have it: a change depends on the version alone
 * @throws Problem 412 when the client's version is stale
 */
export function requireMatch(headers: IncomingHttpHeaders, ...current: readonly string[]): void {
  const value = headers['if-match'];
  if (value === undefined) return;
  const tags = parseTags('If-Match', value);
  if (tags === '*' || tags.some((tag) => current.includes(withoutState(tag)))) return;
  throw new Problem(
    'precondition-failed',
    'The resource has changed since the version that If-Match names. Read it again.',
    {
      errors: [{ header: 'If-Match', detail: 'names no version that is current' }],
    },
  );
}

/** Whether `If-None-Match` names the representation (weak comparison, RFC 9110 section 13.1.2). */
export function notModified(headers: IncomingHttpHeaders, etag: string | undefined): boolean {
  const value = headers['if-none-match'];
  if (value === undefined || etag === undefined) return false;
  const tags = parseTags('If-None-Match', value);
  return tags === '*' || tags.some((tag) => withoutWeakness(tag) === withoutWeakness(etag));
}
