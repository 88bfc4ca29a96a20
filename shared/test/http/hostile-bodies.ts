// Bodies just below the limit, made to be small for whoever sends them and expensive for whoever reads or refuses them.
import { maxBodyBytes } from '../../src/http/index.ts';

/** `piece` between `start` and `end` as often as fits into a body. */
function filled(start: string, piece: string, end: string): string {
  const room = maxBodyBytes - Buffer.byteLength(start + end);
  const pieces = piece.repeat(Math.floor(room / Buffer.byteLength(piece)));
  return `${start}${pieces.replace(/,$/, '')}${end}`;
}

/** An object of counted names, as many as fit. */
function members(name: string, value: string): string {
  const count = Math.floor((maxBodyBytes - 100) / (name.length + value.length + 9));
  return `{${Array.from({ length: count }, (_, index) => `"${name}${index}":${value}`).join()}}`;
}

const long = '~'.repeat(20_000);
const marks = '\u0301\u0316';

/** What each is → its text. */
export const hostileBodies: Readonly<Record<string, string>> = {
  'faults under a long name': filled(`{"${long}":[`, '"\\u0000",', ']}'),
  'many faults': filled('{"items":[', '"\\ud800",', ']}'),
  'forbidden members': filled('{"items":[', '{"constructor":1},', ']}'),
  'unknown members': members('m', '1'),
  'long unknown members': members('\\u0001'.repeat(150), '1'),
  'one long unknown member': `{"${'~'.repeat(maxBodyBytes - 20)}":1}`,
  'unknown members of a member': `{"shipping_address":${members('m', '1')}}`,
  'elements of a wrong type': filled('{"items":[', '0,', ']}'),
  'elements without members': filled('{"items":[', '{},', ']}'),
  'unknown fields': filled('{"fields":[', `"${'\\"'.repeat(50)}",`, ']}'),
  'unknown operators': `{"filters":{"price":${members('o', '1')}}}`,
  'unknown filters': `{"filters":${members('f', '{"eq":1}')}}`,
  'groups of long lists': filled('{"filters":{"or":[', '{"brand":{"in":["a","b"]}},', ']}}'),
  'groups of wrong conditions': filled('{"filters":{"or":[', '{"price":{"x":1},"y":1},', ']}}'),
  'a list of long values': `{"filters":{"brand":{"in":[${Array.from({ length: 400 }, (_, index) => `"${String(index).padEnd(100, 'é')}"`).join()}]}}}`,
  'sort criteria': filled('{"sort":[', '{"field":"price","direction":"asc"},', ']}'),
  'a repeated member': filled('{', '"email":1,', '}'),
  'repeated members under a long name': filled(`{"${long}":[`, '{"a":1,"a":2},', ']}'),
  'a deep repeated member': `{"a":${'['.repeat(40_000)}{"b":1,"b":2}${']'.repeat(40_000)},"a":1}`,
  'deep arrays': '['.repeat(maxBodyBytes / 2) + ']'.repeat(maxBodyBytes / 2),
  'deep objects': `${'{"a":'.repeat(17_000)}1${'}'.repeat(17_000)}`,
  'arrays one level too deep': filled('['.repeat(31), '[[]],', ']'.repeat(31)),
  'rounded numbers': filled('{"items":[', '0.12345678901234567891,', ']}'),
  'zeros before a digit': filled('{"price":0.', '0', '1}'),
  'zeros between digits': filled('{"price":1', '0', '1}'),
  'a long exponent': filled('{"price":1e', '9', '}'),
  'combining marks': filled('{"email":"a', marks, '"}'),
  'combining marks in wrong order': `{"email":"a${'\u0301'.repeat(25_000)}${'\u0316'.repeat(25_000)}"}`,
  'an e-mail of dots': filled('{"email":"', 'a.', '@"}'),
  'an e-mail of labels': filled('{"email":"a@', 'a.', '"}'),
  'an e-mail of hyphens': filled('{"email":"a@', 'a-', '"}'),
  'a name of spaces': filled('{"name":"', ' ', '"}'),
  'a telephone number of spaces': filled('{"phone_number":"', ' ', 'x"}'),
  escapes: filled('{"name":"', '\\\\', '"}'),
  colons: filled('{"name":"', ':', '"}'),
  'a text without an end': filled('{"name":"', 'a', ''),
  'arrays without an end': filled('', '[', ''),
};
