// Bodies of the maximum size of an operation. They are cheap for the client and expensive for the service that reads or
// refuses them.

/** Repeats `piece` between `start` and `end` as often as it fits into `bytes`. */
function filledTo(bytes: number, start: string, piece: string, end: string): string {
  const room = bytes - Buffer.byteLength(start + end);
  const pieces = piece.repeat(Math.floor(room / Buffer.byteLength(piece)));
  return `${start}${pieces.replace(/,$/, '')}${end}`;
}

/** Returns an object with numbered members, as many as fit. */
function membersTo(bytes: number, name: string, value: string): string {
  const count = Math.floor((bytes - 100) / (name.length + value.length + 9));
  return `{${Array.from({ length: count }, (_, index) => `"${name}${index}":${value}`).join()}}`;
}

const marks = '\u0301\u0316';

/** Returns a description → text of at most `bytes` bytes. */
export function hostileBodies(bytes: number): Readonly<Record<string, string>> {
  const filled = (start: string, piece: string, end: string) => filledTo(bytes, start, piece, end);
  const members = (name: string, value: string) => membersTo(bytes, name, value);
  const long = '~'.repeat(bytes / 5);
  const half = Math.floor(bytes / 2);
  const fourth = bytes / 4 - 10;
  const longValues = Array.from(
    { length: Math.floor(bytes / 256) },
    (_, index) => `"${String(index).padEnd(100, 'é')}"`,
  );
  const shortLists = ['brand', 'category', 'name'].map(
    (field) => `"${field}":{"in":[${filledTo(bytes / 3 - 30, '', '"a",', '')}]}`,
  );
  return {
    'faults under a long name': filled(`{"${long}":[`, '"\\u0000",', ']}'),
    'many faults': filled('{"items":[', '"\\ud800",', ']}'),
    'forbidden members': filled('{"items":[', '{"constructor":1},', ']}'),
    'unknown members': members('m', '1'),
    'long unknown members': members('\\u0001'.repeat(150), '1'),
    'one long unknown member': `{"${'~'.repeat(bytes - 20)}":1}`,
    'unknown members of a member': `{"shipping_address":${members('m', '1')}}`,
    'elements of a wrong type': filled('{"items":[', '0,', ']}'),
    'elements without members': filled('{"items":[', '{},', ']}'),
    'unknown fields': filled('{"fields":[', `"${'\\"'.repeat(50)}",`, ']}'),
    'unknown operators': `{"filters":{"price":${members('o', '1')}}}`,
    'unknown filters': `{"filters":${members('f', '{"eq":1}')}}`,
    'groups of long lists': filled('{"filters":{"or":[', '{"brand":{"in":["a","b"]}},', ']}}'),
    'groups of wrong conditions': filled('{"filters":{"or":[', '{"price":{"x":1},"y":1},', ']}}'),
    'a list of long values': `{"filters":{"brand":{"in":[${longValues.join()}]}}}`,
    'sort criteria': filled('{"sort":[', '{"field":"price","direction":"asc"},', ']}'),
    'a repeated member': filled('{', '"email":1,', '}'),
    'repeated members under a long name': filled(`{"${long}":[`, '{"a":1,"a":2},', ']}'),
    'a deep repeated member': `{"a":${'['.repeat(half - 20)}{"b":1,"b":2}${']'.repeat(half - 20)},"a":1}`,
    'deep arrays': '['.repeat(half) + ']'.repeat(half),
    'deep objects': `${'{"a":'.repeat(bytes / 6 - 1)}1${'}'.repeat(bytes / 6 - 1)}`,
    'arrays one level too deep': filled('['.repeat(31), '[[]],', ']'.repeat(31)),
    'rounded numbers': filled('{"items":[', '0.12345678901234567891,', ']}'),
    'zeros before a digit': filled('{"price":0.', '0', '1}'),
    'zeros between digits': filled('{"price":1', '0', '1}'),
    'a long exponent': filled('{"price":1e', '9', '}'),
    'combining marks': filled('{"email":"a', marks, '"}'),
    'runs of 30 combining marks': filled('{"name":"', `a${'\u0300'.repeat(30)}`, '"}'),
    'a search for runs of 30 combining marks': filled('{"filters":{"name":{"eq":"', `a${'\u0300'.repeat(30)}`, '"}}}'),
    'combining marks in wrong order': `{"email":"a${'\u0301'.repeat(fourth)}${'\u0316'.repeat(fourth)}"}`,
    'an e-mail of dots': filled('{"email":"', 'a.', '@"}'),
    'an e-mail of labels': filled('{"email":"a@', 'a.', '"}'),
    'an e-mail of hyphens': filled('{"email":"a@', 'a-', '"}'),
    'a name of spaces': filled('{"name":"', ' ', '"}'),
    'a telephone number of spaces': filled('{"phone_number":"', ' ', 'x"}'),
    'an escaped text': filled('{"name":"', '\\u00e9', '"}'),
    'long lists of short values': `{"filters":{${shortLists.join()}}}`,
    'or groups': filled('{"filters":{"or":[', '{"price":{"gt":1}},', ']}}'),
    'members broken off at their end': members('m', '1').slice(0, -1),
    escapes: filled('{"name":"', '\\\\', '"}'),
    colons: filled('{"name":"', ':', '"}'),
    'a text without an end': filled('{"name":"', 'a', ''),
    'arrays without an end': filled('', '[', ''),
  };
}
