// Hostile input is refused quickly, and reaches SQL only as a parameter.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compile, fromBody, fromQuery } from '../../src/collection/index.ts';
import { Problem } from '../../src/problem/problem.ts';
import { criteria } from './arbitraries.ts';
import { sample } from './sample.ts';

// The maximum length of a URL and of a body in a request.
const long = 8_192;
const longBody = 100_000;
/** The permitted processor time in milliseconds. */
const enough = 5;
const deep = (levels: number): unknown => (levels === 0 ? { eq: 'A' } : { or: [deep(levels - 1)] });

const queries: readonly [string, Record<string, string | string[]>][] = [
  ['spaces', { brand: ' '.repeat(long) }],
  ['commas', { brand: ','.repeat(long) }],
  ['colons', { brand: ':'.repeat(long) }],
  ['quotes', { brand: '"'.repeat(long) }],
  ['an open quote', { brand: `"${'a'.repeat(long)}` }],
  ['backslashes', { brand: `"${'\\'.repeat(long)}` }],
  ['letters', { brand: 'a'.repeat(long) }],
  ['letters and a colon', { brand: `${'a'.repeat(long)}:` }],
  ['many operators', { price: 'gte:1,'.repeat(long / 6) }],
  ['digits', { price: '1'.repeat(long) }],
  ['a long fraction', { price: `0.${'0'.repeat(long)}` }],
  ['dashes', { createdAt: '2026-'.repeat(long / 5) }],
  ['sorts', { sort: 'price:asc,'.repeat(long / 10) }],
  ['fields', { fields: 'id,'.repeat(long / 3) }],
  ['many parameters', Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`p${index}`, '1']))],
  ['a repeated parameter', { brand: Array.from({ length: 700 }, () => 'ne:A') }],
  ['SQL as an operator', { price: '1); DROP TABLE samples; --:1' }],
  ['SQL as a sort', { sort: 'price;DROP TABLE samples:asc' }],
  ['SQL as a direction', { sort: 'price:asc; DROP TABLE samples' }],
  ['SQL as a field', { 'price_minor" OR 1=1 --': '1' }],
  ['SQL as a member', { fields: '*' }],
  ['SQL as a limit', { limit: '1; SELECT 1' }],
  ['a column', { price_minor: '1' }],
  ['a long cursor of no key', { cursor: '' }],
];

const bodies: readonly [string, unknown][] = [
  ['depth', { filters: deep(10) }],
  ['great depth', { filters: deep(2_000) }],
  ['many groups', { filters: { or: Array.from({ length: 3_000 }, () => ({ price: { eq: 1 } })) } }],
  ['many values', { filters: { brand: { in: Array.from({ length: 20_000 }, (_, index) => `b${index}`) } } }],
  ['one value many times', { filters: { brand: { in: Array.from({ length: 20_000 }, () => 'b') } } }],
  [
    'many fields',
    { filters: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, { eq: 1 }])) },
  ],
  ['a long name', { filters: { ['x'.repeat(longBody)]: { eq: 1 } } }],
  ['an array for an object', { filters: [[[[]]]] }],
  ['an object for a value', { filters: { brand: { eq: { toString: 'A' } } } }],
  ['null', { filters: { brand: null } }],
  ['infinity', { filters: { price: { eq: Number.POSITIVE_INFINITY } } }],
  ['a huge number', { filters: { price: { eq: 1e300 } } }],
  ['a tiny number', { filters: { price: { eq: 5e-324 } } }],
  ['a number for a text', { filters: { brand: { eq: 1 } } }],
  ['a truth value', { filters: { price: { gte: true } } }],
  ['sorts', { sort: Array.from({ length: 5_000 }, () => ({ field: 'price', direction: 'asc' })) }],
  ['SQL as an operator', { filters: { price: { '= 1 OR 1': 1 } } }],
  ['own prototype', JSON.parse('{"filters":{"__proto__":{"eq":1},"toString":{"eq":1},"hasOwnProperty":{"eq":1}}}')],
];

function refusal(work: () => unknown): Problem | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The smallest processor time of several runs, so that other load of the machine does not count. */
function milliseconds(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 8 || (tries < 80 && best >= enough); tries += 1) {
    const before = process.cpuUsage();
    refusal(work);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

describe('a query of', () => {
  it.each(queries)('a query of %s is rejected', (_name, query) => {
    const work = () => fromQuery(sample, query);
    expect([400, 422]).toContain(refusal(work)?.status);
    expect(milliseconds(work)).toBeLessThan(enough);
  });
});

describe('a body of', () => {
  it.each(bodies)('a body of %s is rejected', (_name, body) => {
    const work = () => fromBody(sample, body);
    expect([400, 422]).toContain(refusal(work)?.status);
    expect(milliseconds(work)).toBeLessThan(enough);
  });
});

it('an error response proposes no request that is long', () => {
  const refused = (characters: number) => {
    const values = Array.from({ length: 101 }, (_, index) => String(index).padEnd(characters, 'é'));
    return refusal(() => fromBody(sample, { filters: { brand: { in: values }, name: { in: values } } }));
  };
  expect(refused(50)?.extensions.nearest).toBeDefined();
  expect(refused(90)).toMatchObject({ code: 'query-too-costly', message: expect.not.stringContaining('nearest') });
  expect(refused(90)?.extensions).not.toHaveProperty('nearest');
});

describe('any text at all', () => {
  const parameter = fc.constantFrom(
    'brand',
    'price',
    'createdAt',
    'status',
    'sort',
    'limit',
    'fields',
    'cursor',
    'x',
    '__proto__',
  );
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-z":,\\0-9 -]{0,30}$/));

  it('any string parses to criteria or an error response, as a query', () => {
    fc.assert(
      fc.property(fc.dictionary(parameter, fc.oneof(text, fc.array(text, { minLength: 1 }))), (query) => {
        expect([undefined, 400, 422]).toContain(refusal(() => fromQuery(sample, query))?.status);
      }),
      { numRuns: 5_000 },
    );
  });

  it('any string parses to criteria or an error response, as a body', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('filters', 'sort', 'pagination', 'fields'), (json, member) => {
        expect([undefined, 400, 422]).toContain(refusal(() => fromBody(sample, { [member]: json }))?.status);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('SQL', () => {
  it('the SQL text contains no string of a client', () => {
    fc.assert(
      fc.property(criteria(5), (given) => {
        const position = given.sort.map(() => 'z');
        const { text, values } = compile(sample, { criteria: given, position, scope: {} });
        expect(text).toMatch(/^[A-Za-z0-9_ ,.()<>=$:[\]*]+$/);
        const parameters = new Set([...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
        expect(parameters.size).toBe(values({ criteria: given, position, scope: {} }).length);
        const words = new Set(text.match(/[a-z_]{2,}/g));
        for (const field of ['name', 'brand']) {
          for (const condition of given.conditions) {
            if (
              condition.field === field &&
              condition.operator !== 'in' &&
              /^[^a-z]{2,}$/.test(String(condition.value))
            ) {
              expect(words).not.toContain(condition.value);
            }
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
