// Finds the position of the first syntax error in JSON (RFC 8259). The messages of JSON.parse often do not name it.

const token =
  /[ \t\n\r]*(?:("[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w))|([{}[\],:]))/uy;

type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a member name or }'
  | 'a member name'
  | 'a colon'
  | 'a comma or }'
  | 'a comma or ]'
  | 'the end';

/**
 * Returns a sentence about the first syntax error in a string that JSON.parse rejects: `is not valid JSON at line 1,
 * column 8: a value is expected`.
 */
export function invalidJson(text: string): string {
  const open: string[] = [];
  let expected: Expected = 'a value';
  let end = 0;
  for (;;) {
    token.lastIndex = end;
    const [whole = '', name, scalar, sign] = token.exec(text) ?? [];
    const next: Expected | undefined =
      whole === '' ? undefined : follow(expected, open, name !== undefined, scalar !== undefined, sign);
    if (next === undefined) break;
    expected = next;
    end += whole.length;
  }
  while (/[ \t\n\r]/.test(text[end] ?? '')) end += 1;
  const before = text.slice(0, end);
  const line = before.split('\n').length;
  const column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1;
  return `is not valid JSON at line ${line}, column ${column}: ${expected} is expected`;
}

/** Returns what must follow a token; undefined when the token is not expected. Changes the list of open brackets. */
function follow(
  expected: Expected,
  open: string[],
  isText: boolean,
  isScalar: boolean,
  sign: string | undefined,
): Expected | undefined {
  const afterValue = (): Expected =>
    open.length === 0 ? 'the end' : open.at(-1) === '{' ? 'a comma or }' : 'a comma or ]';
  const close = (): Expected => {
    open.pop();
    return afterValue();
  };
  if (expected === 'a value' || expected === 'a value or ]') {
    if (isText || isScalar) return afterValue();
    if (sign === ']' && expected === 'a value or ]') return close();
    if (sign !== '{' && sign !== '[') return undefined;
    open.push(sign);
    return sign === '{' ? 'a member name or }' : 'a value or ]';
  }
  if (expected.startsWith('a member name')) {
    if (isText) return 'a colon';
    return sign === '}' && expected === 'a member name or }' ? close() : undefined;
  }
  if (expected === 'a colon') return sign === ':' ? 'a value' : undefined;
  if (expected === 'the end') return undefined;
  if (sign === ',') return expected === 'a comma or }' ? 'a member name' : 'a value';
  return sign === expected.at(-1) ? close() : undefined;
}
