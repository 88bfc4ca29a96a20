// Identifiers: UUID version 7, lower case.
import { v7 } from 'uuid';

/** A new time-ordered identifier (RFC 9562 section 5.7). */
export function newId(): string {
  return v7();
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text has the form of an identifier. */
export function isId(text: string): boolean {
  return uuid.test(text);
}
