// Conditional requests: entity tags that contain the row version, If-Match and If-None-Match.
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../problem/index.ts';

/**
 * Returns the strong entity tag of a row version. It is the same for every projection of the resource.
 * @param version of the row; the digits of an id may follow
 */
export function etagOf(version: number | string): string {
  return `"${version}"`;
}

/**
 * Returns the entity tag of a response that also depends on the caller. The tag is weak, because two callers get
 * different bytes.
 * @param version of the row; further versions and figures of the response may follow, separated by full stops
 */
export function weakEtagOf(version: number | string): string {
  return `W/"${version}"`;
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '');
}

// The comma between two tags and one within a tag look the same, so a list is parsed tag by tag.
const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const tagList = new RegExp(String.raw`^[ \t,]*${tag}(?:[ \t]*,[ \t,]*${tag})*[ \t,]*$`);
const eachTag = new RegExp(tag, 'g');

/**
 * Returns the tags of a list, or '*'.
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

/** Returns the tag with the version alone. */
function withoutState(tag: string): string {
  return tag.replace(/^((?:W\/)?"[0-9]+)\.[0-9.]+"$/, '$1"');
}

/**
 * Compares `If-Match` with the tags of the present version, character by character (RFC 9110 section 13.1.1). The parts
 * of a tag after the version are ignored. Call it with the row locked.
 * @param current the strong tag, and the weak one if responses have it: a change depends on the version alone
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

/** Whether `If-None-Match` matches the representation (weak comparison, RFC 9110 section 13.1.2). */
export function notModified(headers: IncomingHttpHeaders, etag: string | undefined): boolean {
  const value = headers['if-none-match'];
  if (value === undefined || etag === undefined) return false;
  const tags = parseTags('If-None-Match', value);
  return tags === '*' || tags.some((tag) => withoutWeakness(tag) === withoutWeakness(etag));
}
