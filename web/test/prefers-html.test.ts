// Whether a client gets a page or a problem document.
import { expect, it } from '@jest/globals';
import { prefersHtml } from '../src/prefers-html.ts';

it.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
  ['text/html', true],
  ['text/html;q=0.9, application/json;q=0.8', true],
  ['TEXT/HTML', true],
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['application/json, text/html', false],
  ['text/html;q=0.5, application/json', false],
  ['text/html;q=0', false],
  ['text/html;q=nonsense', false],
  ['image/png', false],
])('prefersHtml for the Accept header %s is %s', (accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected);
});
