// Conditional requests: entity tags that contain the row version, If-Match and If-None-Match.
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../problem/index.ts';

/**
 * Returns the strong entity tag of a row version. It is the same for every projection of the resource.
 * @param version of the row; the digits of an id may follow
 */
export function toEtag(version: number | string): string {
  return `"${version}"`;
}

/**
 * Returns the entity tag of a response that also depends on the caller. The tag is weak, because two callers get
 * different bytes.
 * @param version of the row; further versions and figures of the response may follow, separated by full stops
 */
export function toWeakEtag(version: number | string): string {
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
 * Compares the conditions of a change with the tags of the present version: first `If-Match`, character by character,
 * then `If-None-Match` (RFC 9110 section 13.2.2). The parts of a tag after the version are ignored. Call it with the
 * row locked.
 * @param current the strong tag, and the weak one if responses have it: a change depends on the version alone
 * @throws Problem 412 when a condition is false
 */
export function requireMatch(headers: IncomingHttpHeaders, ...current: readonly string[]): void {
  requireCurrent(headers, current);
  requireNoneMatch(headers, ...current);
}

/**
 * Compares `If-None-Match` of a change with the tags of the present version (RFC 9110 section 13.1.2).
 * @throws Problem 412 when the header is `*` or names the present version
 */
export function requireNoneMatch(headers: IncomingHttpHeaders, ...current: readonly string[]): void {
  if (!current.some((each) => matches(headers, each, withoutState))) return;
  throw new Problem('precondition-failed', 'The resource exists in a version that If-None-Match excludes.', {
    errors: [{ header: 'If-None-Match', detail: 'excludes the current version' }],
  });
}

/**
 * Evaluates the conditions of a read, except `If-None-Match`, which leads to 304.
 * @param etag of the response; undefined when it has none
 * @throws Problem 412 when `If-Match` is false
 */
export function requireRead(headers: IncomingHttpHeaders, etag: string | undefined): void {
  if (headers['if-match']?.trim() !== '*')
    requireCurrent(headers, etag === undefined ? [] : [etag, withoutState(etag)]);
}

/**
 * Evaluates the conditions of a change of a resource without a version (RFC 9110 section 13.1).
 * @param represented whether the target has a representation, which `*` matches
 * @throws Problem 412 when a condition is false
 */
export function requireUnversioned(headers: IncomingHttpHeaders, represented: boolean): void {
  const isAny = headers['if-match']?.trim() === '*';
  if (!represented || !isAny) requireCurrent(headers, [], 'This address has no version that If-Match could name.');
  if (represented) requireNoneMatch(headers, '');
}

const stale = 'The resource has changed since the version that If-Match names. Read it again.';

/** Checks `If-Match`. `*` matches each present representation. */
function requireCurrent(headers: IncomingHttpHeaders, current: readonly string[], detail = stale): void {
  const value = headers['if-match'];
  if (value === undefined) return;
  const tags = parseTags('If-Match', value);
  const isCurrent = (tag: string): boolean => current.includes(tag) || current.includes(withoutState(tag));
  if (tags === '*' ? current.length > 0 : tags.some(isCurrent)) return;
  const errors = [{ header: 'If-Match', detail: 'names no version that is current' }];
  throw new Problem('precondition-failed', detail, { errors });
}

/**
 * Returns whether `If-None-Match` matches the representation (weak comparison, RFC 9110 section 13.1.2). A response
 * without a tag does not match `*` either, because generated clients expect no 304 of operations without tags.
 */
export function notModified(headers: IncomingHttpHeaders, etag: string | undefined): boolean {
  return etag !== undefined && matches(headers, etag);
}

/** @param simplify of the tags of the client before they are compared */
function matches(headers: IncomingHttpHeaders, etag: string, simplify = (tag: string): string => tag): boolean {
  const value = headers['if-none-match'];
  if (value === undefined) return false;
  const tags = parseTags('If-None-Match', value);
  return tags === '*' || tags.some((tag) => withoutWeakness(simplify(tag)) === withoutWeakness(etag));
}
