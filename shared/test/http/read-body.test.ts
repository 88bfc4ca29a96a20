// The permitted content of a body: exact numbers, no duplicate members, texts that can be normalized. Refusals stay
// small.
import { describe, expect, it } from '@jest/globals';
import { maxBodyBytes, refuseFaults } from '../../src/contract/index.ts';
import { parseBody } from '../../src/http/index.ts';
import { type Fault, Problem, problemDocument } from '../../src/problem/index.ts';
import { hostileBodies } from './hostile-bodies.ts';

function refusal(text: string): Problem | undefined {
  try {
    refuseFaults(parseBody(Buffer.from(text)).faults);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const faultsOf = (text: string): readonly Fault[] | undefined => refusal(text)?.errors;

describe('a number', () => {
  it.each([
    ['1e1', 10],
    ['1E+1', 10],
    ['1000e-2', 10],
    ['-0', -0],
    ['-0.0e5', -0],
    ['19.990', 19.99],
    ['19.99000000000000000000', 19.99],
    ['100000000000000000000000', 1e23],
    ['0.30000000000000004', 0.30000000000000004],
    ['9007199254740992', 2 ** 53],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['5e-324', Number.MIN_VALUE],
    ['0e999999999999999999', 0],
  ])('the number %s is accepted', (source, value) => {
    expect(parseBody(Buffer.from(`{"price":${source}}`))).toEqual({ value: { price: value }, faults: [] });
  });

  it.each([
    '19.990000000000000001',
    '9.999999999999999999',
    '-19.990000000000000001',
    '0.1000000000000000055',
    '9007199254740993',
    '1000000000000000000000001e-3',
    '1e400',
    '1e-400',
    '4e-324',
    '0.00000000000000000000000000000000001234567890123456789',
  ])('the number %s is rejected, because it would be rounded', (source) => {
    const fault = { detail: 'must be a number of at most 15 digits' };
    expect(faultsOf(`{"price": ${source}}`)).toEqual([{ pointer: '/price', ...fault }]);
    expect(faultsOf(`[\n{"a/b":[0,"",${source}]}]`)).toEqual([{ pointer: '/0/a~1b/2', ...fault }]);
    expect(faultsOf(source)).toEqual([{ pointer: '', ...fault }]);
  });

  it('a number that would be rounded is accepted inside a string', () => {
    const body = { text: 'costs: 19.990000000000000001, or "1e400', '9007199254740993': [true, null] };
    expect(parseBody(Buffer.from(JSON.stringify(body)))).toEqual({ value: body, faults: [] });
  });
});

describe('a member', () => {
  it.each([
    ['{"price":1,"price":2}', ['/price']],
    ['{"price":1,"price":1}', ['/price']],
    ['{"price":1,"pr\\u0069ce":2,"price":3}', ['/price']],
    ['{"filters":{"price":{"gte":1,"gte":5}}}', ['/filters/price/gte']],
    ['{"or":[{},{"a":{"b":1},"a":{"b":2}}],"or":[]}', ['/or/1/a', '/or']],
    ['{"a":"x:\\"{","a" : ":"}', ['/a']],
    ['{"":1,"":2}', ['/']],
  ])('a member given twice is rejected: %s', (text, pointers) => {
    expect(faultsOf(text)).toEqual(pointers.map((pointer) => ({ pointer, detail: 'must be given once' })));
  });

  it.each(['{"a":{"a":1},"b":{"a":[{"a":1},{"a":":,{"}]}}', '{"a":":","b:":"a"}', '{"a":["a","a"]}'])(
    'a member of the same name in another object is accepted: %s',
    (text) => {
      expect(parseBody(Buffer.from(text))).toEqual({ value: JSON.parse(text), faults: [] });
    },
  );
});

it('a string may have at most 30 consecutive combining marks', () => {
  const marks = (count: number) => JSON.stringify({ name: `a${'\u0316'.repeat(count)}` });
  expect(faultsOf(marks(30))).toBeUndefined();
  expect(faultsOf(marks(31))).toEqual([
    { pointer: '/name', detail: 'must not contain more than 30 combining marks in a row' },
  ]);
});

describe('a body of', () => {
  /** The smallest processor time of several runs, so that other load of the machine does not count. */
  function milliseconds(work: () => unknown): number {
    const times = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    return Math.min(...times);
  }

  it.each(Object.entries(hostileBodies(maxBodyBytes)))(
    'a body of %s costs little to read and to reject',
    (_name, text) => {
      expect(milliseconds(() => refusal(text))).toBeLessThan(250);
      const problem = refusal(text);
      const pointers = (problem?.errors ?? []).map(({ pointer = '' }) => pointer);
      expect(pointers.length).toBeLessThanOrEqual(100);
      // A pointer has at most 32 names of 100 characters, which escapes may double.
      expect(Math.max(0, ...pointers.map(({ length }) => length))).toBeLessThan(32 * 201);
      if (problem) expect(JSON.stringify(problemDocument(problem, 'x')).length).toBeLessThan(64 * 1024);
    },
  );
});

describe('a problem document', () => {
  const bytesOf = (problem: Problem) => Buffer.byteLength(JSON.stringify(problemDocument(problem, 'x')));

  it('a problem document stays below 64 KiB for every problem', () => {
    const long = '\u0000'.repeat(100_000);
    const errors = Array.from({ length: 1_000 }, () => ({
      pointer: long,
      parameter: long,
      header: long,
      detail: long,
    }));
    const problem = new Problem('invalid-request', long, { errors });
    expect(bytesOf(problem)).toBeLessThan(64 * 1024);
    expect(problemDocument(problem, 'x')).toHaveProperty('errors');
  });

  it('a problem document lists every line of the longest order', () => {
    const lines = Array.from({ length: 101 }, (_, index) => ({
      pointer: `/items/${index}`,
      detail: 'costs 9999999999999.99 each',
      productId: '0192e4b6-7c1e-7d6a-9f3b-2b6f0c9d1e4e',
      old: 9999999999999.98,
      new: 9999999999999.99,
    }));
    const problem = new Problem('price-changed', 'Prices have changed.', { errors: lines });
    expect(problemDocument(problem, 'x').errors).toEqual(lines);
  });
});
