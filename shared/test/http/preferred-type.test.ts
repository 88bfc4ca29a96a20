// The media type that a client prefers.
import { expect, it } from '@jest/globals';
import { preferredType } from '@shop/shared/protocol';

const [json, html] = ['application/json', 'text/html'];

it.each([
  [undefined, json],
  ['', json],
  ['*/*', json],
  ['text/html', html],
  ['TEXT/HTML', html],
  ['text/*', html],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', html],
  ['text/html;q=0.9, application/json;q=0.8', html],
  ['text/html, application/*;q=0.5', html],
  ['text/html, application/json', json],
  ['text/html, */*', json],
  ['*/*;q=0.1, text/html;q=0.2, application/json;q=0', html],
  ['text/*;q=1, text/html;q=0.5, application/json;q=0.7', json],
  ['text/html;level=1;q=0.4, application/json;q=0.3', html],
  ['application/json; charset=utf-8', json],
  ['text/html;q=nonsense, application/json;q=0.1', json],
  ['image/png', undefined],
  ['text/html;q=0', undefined],
  [',', undefined],
])('of JSON and HTML, Accept: %s prefers %s', (accept, expected) => {
  expect(preferredType(accept, ['application/json', 'text/html'])).toBe(expected);
});
