// Queries of the maximum length of a request. They are cheap for the client and expensive for the service that reads or
// refuses them.

/** Returns a description → text of at most `bytes` bytes. A service accepts header sections of at most 16 KiB. */
export function hostileQueries(bytes: number): Readonly<Record<string, string>> {
  const filled = (start: string, piece: string, end = ''): string =>
    `${start}${piece.repeat(Math.floor((bytes - start.length - end.length) / piece.length))}${end}`;
  const names = Array.from({ length: Math.floor(bytes / 4) }, (_, index) => index.toString(36)).join('&');
  return {
    'unknown parameters': names.slice(0, bytes),
    'one long unknown parameter': filled('', 'x'),
    'broken escapes': filled('', '%&'),
    'a name with NUL': filled('', '%00&'),
    'a parameter again and again': filled('', 'limit=x&'),
    'unknown fields': filled('fields=', 'a,'),
    'wrong sorts': filled('sort=', 'a,'),
    'wrong conditions': filled('status=', 'gte:1,'),
    'a long list': filled('status=', 'a,', 'a'),
    'a long list of valid values': filled('price=', '1,', '1'),
    'conditions again and again': filled('', 'price=ne:1&'),
    quotes: filled('status=', '"'),
    'escaped quotes': filled('name="', '\\"', '"'),
    'combining marks': filled('status=', '%CC%81%CC%96'),
    'runs of 30 combining marks': filled('name=', `a${'%CC%80'.repeat(30)}`),
  };
}
