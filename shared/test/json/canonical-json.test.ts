// The canonical form of JSON.
import { expect, it } from '@jest/globals';
import { canonicalJson } from '../../src/json/index.ts';

it('canonicalJson sorts members at every depth by UTF-16 code units, and keeps the order of elements', () => {
  const value = {
    b: [{ z: 1, a: null }, 2],
    10: 'x',
    9: false,
    '\u20ac': 1,
    '\ud83d\ude00': 2,
    '\ufb33': 3,
    a: undefined,
  };
  expect(canonicalJson(value)).toBe(
    '{"10":"x","9":false,"b":[{"a":null,"z":1},2],"\u20ac":1,"\ud83d\ude00":2,"\ufb33":3}',
  );
});

it('canonicalJson writes numbers and texts as RFC 8785 requires', () => {
  const value = [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0, '\u20ac$\u000F\nA\'B"\\/'];
  expect(canonicalJson(value)).toBe('[333333333.3333333,1e+30,4.5,0.002,1e-27,0,"€$\\u000f\\nA\'B\\"\\\\/"]');
});
