// Identifiers: UUID version 7. The shop writes them in lower case, and reads them without regard to case (RFC 9562 section 4).
import { v7 } from 'uuid';

/** Returns a new time-ordered identifier (RFC 9562 section 5.7). */
export function newId(): string {
  return v7();
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns whether a string is an identifier in the shop's notation. */
export function isId(text: string): boolean {
  return uuid.test(text);
}

/** Returns an identifier in lower case; undefined when the string is not an identifier. */
export function parseId(text: string): string | undefined {
  const id = text.toLowerCase();
  return isId(id) ? id : undefined;
}

/** Returns a request target in which each path segment that is an identifier is in lower case. */
export function withLowerCaseIds(target: string): string {
  const [path = ''] = target.split('?', 1);
  if (!/[A-F]/.test(path)) return target;
  const segments = path.split('/').map((segment) => parseId(segment) ?? segment);
  return segments.join('/') + target.slice(path.length);
}
