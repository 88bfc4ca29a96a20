// The place at which a text stops being JSON.
import { describe, expect, it } from '@jest/globals';
import { invalidJson } from '../../src/json/index.ts';

describe('a text that is not JSON', () => {
  it.each([
    ['', 'line 1, column 1: a value is expected'],
    ['{', 'line 1, column 2: a member name or } is expected'],
    ['{"a":x}', 'line 1, column 6: a value is expected'],
    ['{"a":1,}', 'line 1, column 8: a member name is expected'],
    ['{"a" 1}', 'line 1, column 6: a colon is expected'],
    ['{"a":1 "b":2}', 'line 1, column 8: a comma or } is expected'],
    ['[1 2]', 'line 1, column 4: a comma or ] is expected'],
    ['[1,]', 'line 1, column 4: a value is expected'],
    ['[1}', 'line 1, column 3: a comma or ] is expected'],
    ['{"a":1} x', 'line 1, column 9: the end is expected'],
    ['{\n  "ä😀": \'x\'\n}', 'line 2, column 9: a value is expected'],
    ["{'a':1}", 'line 1, column 2: a member name or } is expected'],
    ['{"a":01}', 'line 1, column 6: a value is expected'],
    ['{"a":"b\nc"}', 'line 1, column 6: a value is expected'],
    ['{"a":truex}', 'line 1, column 6: a value is expected'],
    ['{"a":NaN}', 'line 1, column 6: a value is expected'],
  ])('the invalid JSON %j is rejected with the location of the fault', (text, place) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(invalidJson(text)).toBe(`is not valid JSON at ${place}`);
  });

  it('invalid JSON may be long', () => {
    expect(invalidJson(`{"a":"${'b'.repeat(100_000)}",}`)).toBe(
      'is not valid JSON at line 1, column 100009: a member name is expected',
    );
    expect(invalidJson('['.repeat(50_000))).toMatch(/column 50001: a value or \] is expected$/);
  });
});
