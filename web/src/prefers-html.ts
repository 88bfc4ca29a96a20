// Whether a client is a browser that wants a page, or a program that wants JSON.
import { preferredType } from '@shop/shared/protocol';

const types = ['application/json', 'application/problem+json', 'text/html'];

/** Returns whether `Accept` prefers HTML to JSON. A client that accepts both equally is a program. */
export function prefersHtml(accept?: string): boolean {
  return preferredType(accept, types) === 'text/html';
}
