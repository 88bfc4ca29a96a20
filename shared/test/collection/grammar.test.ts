// Both notations become the same criteria, and an invalid request is refused with the place of each fault.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matches } from '../../src/collection/cache/page-range.ts';
import { matchesNothing } from '../../src/collection/grammar/contradiction.ts';
import { fromBody, fromQuery, toBody, toQuery } from '../../src/collection/index.ts';
import { type Fault, Problem } from '../../src/problem/problem.ts';
import { anyText, criteria } from './arbitraries.ts';
import { sample, statuses } from './sample.ts';

/** Decodes a query string as the application does. */
function decode(query: string): Record<string, string[]> {
  const parameters: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    parameters[name] = [...(parameters[name] ?? []), value];
  }
  return parameters;
}

const query = (text: string) => fromQuery(sample, decode(text));

function refusal(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

function faultsOf(work: () => unknown, code = 'invalid-request'): readonly Fault[] {
  const problem = refusal(work);
  expect(problem.code).toBe(code);
  return problem.errors;
}

/**
 * Returns the query that a refusal as too costly proposes. Undefined when the request was accepted, or refused for
 * another reason.
 */
function tooCostly(work: () => unknown): unknown {
  return tooCostlyProblem(work)?.extensions.nearest;
}

/** Returns the refusal as too costly. Undefined when the request was accepted, or refused for another reason. */
function tooCostlyProblem(work: () => unknown): Problem | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.code === 'query-too-costly' ? error : undefined;
    throw error;
  }
}

describe('the query spelling', () => {
  it.each([
    ['brand=A', { field: 'brand', operator: 'eq', value: 'A' }],
    ['brand=A,B', { field: 'brand', operator: 'in', values: ['A', 'B'] }],
    ['brand=B&brand=A&brand=B', { field: 'brand', operator: 'in', values: ['A', 'B'] }],
    ['brand=in:B,A', { field: 'brand', operator: 'in', values: ['A', 'B'] }],
    ['brand=ne:A', { field: 'brand', operator: 'ne', value: 'A' }],
    ['brand="Smith, Sons"', { field: 'brand', operator: 'eq', value: 'Smith, Sons' }],
    ['brand=eq:"a:\\"b\\"\\\\"', { field: 'brand', operator: 'eq', value: 'a:"b"\\' }],
    ['brand=a\\b', { field: 'brand', operator: 'eq', value: 'a\\b' }],
    ['brand=""', { field: 'brand', operator: 'eq', value: '' }],
    ['price=10', { field: 'price', operator: 'eq', value: 1000 }],
    ['price=gte:19.9', { field: 'price', operator: 'gte', value: 1990 }],
    ['price=-0', { field: 'price', operator: 'eq', value: 0 }],
    ['rating=4.5', { field: 'rating', operator: 'eq', value: 45 }],
    ['createdAt=lt:2026-11-21T03:00:00Z', { field: 'createdAt', operator: 'lt', value: '2026-11-21T03:00:00.000Z' }],
    [
      `createdAt=${encodeURIComponent('2026-11-21T03:00:00.5+01:30')}`,
      { field: 'createdAt', operator: 'eq', value: '2026-11-21T01:30:00.500Z' },
    ],
  ])('the query parser reads %s', (text, condition) => {
    expect(query(text).conditions).toEqual([condition]);
  });

  it.each([
    ['price=gte:1,gte:2', 'price=gte:2,gte:1', 2],
    ['price=gte:1&price=gte:2', 'price=gte:1,gte:2', 2],
    ['price=gte:1,gte:1.0&price=gte:1', 'price=gte:1', 1],
    ['brand=eq:A,eq:B', 'brand=eq:B,eq:A', 2],
    ['brand=in:A,B,in:B,A', 'brand=A,B', 1],
    ['brand=eq:A,eq:A', 'brand=A', 1],
  ])('the query parser combines the conditions of %s, as of %s', (text, other, count) => {
    expect(query(text).conditions).toHaveLength(count);
    expect(query(text)).toEqual(query(other));
    expect(query(toQuery(sample, query(text)))).toEqual(query(text));
  });

  it('the query parser treats a comma and a repeated parameter equally', () => {
    const expected = [
      { field: 'price', operator: 'lt', value: 2000 },
      { field: 'price', operator: 'gte', value: 1000 },
    ];
    expect(query('price=gte:10,lt:20').conditions).toEqual(expected);
    expect(query('price=lt:20&price=gte:10').conditions).toEqual(expected);
  });

  it.each([
    ['brand=', 'brand', 1, 'lacks a value'],
    ['brand=A,', 'brand', 3, 'lacks a value'],
    ['price=gte:', 'price', 5, 'lacks a value'],
    ['price=gte:ten', 'price', 5, 'a number'],
    ['price=1e3', 'price', 1, 'at most 13 digits before the point and 2 after it'],
    ['price=0x10', 'price', 1, 'a number'],
    ['price=Infinity', 'price', 1, 'a number'],
    ['price=10.001', 'price', 1, 'at most 13 digits before the point and 2 after it'],
    ['price=01', 'price', 1, 'a number'],
    ['price=.5', 'price', 1, 'a number'],
    ['price=99999999999999999999', 'price', 1, 'a number'],
    ['price=12345678901234', 'price', 1, 'at most 13 digits before the point and 2 after it'],
    ['rating=4.55', 'rating', 1, 'at most 14 digits before the point and 1 after it'],
    ['price=above:10', 'price', 1, 'no operator of price'],
    ['brand=gte:A', 'brand', 1, 'no operator of brand'],
    ['brand=A,ne:B', 'brand', 1, 'mixes'],
    ['price=between:10,20', 'price', 1, '"between" is no operator of price'],
    ['brand=eq:a:b', 'brand', 5, 'holds a colon'],
    ['brand=a"b', 'brand', 2, 'with a quote'],
    ['brand="a', 'brand', 1, 'closing quote'],
    ['brand="a"b', 'brand', 4, 'lacks a comma'],
    ['brand="a\\n"', 'brand', 3, 'a backslash'],
    ['brand=A, B', 'brand', 3, 'begins or ends with a space'],
    ['status=sold', 'status', 1, 'one of available, pending, backorder, active'],
    ['createdAt=2026-02-30T00:00:00Z', 'createdAt', 1, 'RFC 3339'],
    ['createdAt=2026-11-21T24:00:00Z', 'createdAt', 1, 'RFC 3339'],
    ['createdAt=2026-11-21', 'createdAt', 1, 'RFC 3339'],
    ['createdAt=2026-11-21T03:00:00.0001Z', 'createdAt', 1, 'RFC 3339'],
    ['sort=price', 'sort', 1, 'price:asc'],
    ['sort=price:up', 'sort', 1, 'asc and desc'],
    ['sort=price:asc,brand:asc', 'sort', 11, 'name, price, rating, createdAt can'],
    ['sort=price:asc,price:desc', 'sort', 11, 'twice'],
    ['sort=price:asc,name:asc,rating:asc,createdAt:asc', 'sort', 31, 'at most 3'],
    ['sort=', 'sort', 1, 'as in price:asc'],
    ['fields=id,stock', 'fields', 4, 'no member'],
    ['fields=id,id', 'fields', 4, 'twice'],
    ['fields=', 'fields', 1, 'no member'],
  ])('the query parser rejects the value %s', (text, parameter, position, detail) => {
    const faults = faultsOf(() => query(text));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ parameter, position });
    expect(faults[0]?.detail).toContain(detail);
  });

  it.each(['limit=0', 'limit=101', 'limit=1.5', 'limit=020', 'limit=', 'limit=ten', 'limit=1&limit=2', 'cursor='])(
    'the query parser rejects the parameter %s',
    (text) => {
      expect(faultsOf(() => query(text))[0]?.parameter).toBe(text.slice(0, text.indexOf('=')));
    },
  );

  it.each(['page=2', 'offset=3', '__proto__=1', 'constructor=1', 'id=1', 'or=1', 'price_minor=3'])(
    'the query parser rejects the unknown parameter in %s and names the known ones',
    (text) => {
      const [first] = faultsOf(() => query(text));
      expect(first?.accepted).toContain('price');
    },
  );

  it('the query parser reports all faults together, with the occurrence of a repeated parameter', () => {
    const faults = faultsOf(() => query('brand=A&brand=&page=1&price=gte:'));
    expect(faults).toEqual([
      expect.objectContaining({ parameter: 'brand', occurrence: 2, position: 1 }),
      expect.objectContaining({ parameter: 'page' }),
      expect.objectContaining({ parameter: 'price', position: 5 }),
    ]);
    expect(faultsOf(() => query('price=a&rating=b&sort=c:d'))).toHaveLength(3);
  });

  it.each([
    ['brand=a"b&price=abc&sort=foo:asc&limit=0', ['brand', 'price', 'sort', 'limit']],
    ['sort=price,foo:asc&fields=stock&cursor=', ['sort', 'sort', 'fields', 'cursor']],
    // A consequence of another fault is not reported.
    ['price=abc,"x', ['price']],
    ['price=abc&price="x', ['price']],
    ['price=gte:20,lt:10,ne:x', ['price']],
    ['sort=price,name:asc,rating:asc,createdAt:asc', ['sort', 'sort']],
  ])('the query parser lists the faults of syntax and values of %s together', (text, parameters) => {
    const problem = refusal(() => query(text));
    expect(problem.errors.map(({ parameter }) => parameter).sort()).toEqual([...parameters].sort());
    const [first, ...others] = problem.errors;
    const colon = first?.detail.startsWith('"') ? ':' : '';
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    expect(problem.message).toBe(`${first?.parameter}${colon} ${first?.detail}${more}.`);
  });

  it.each([
    ['price=>10', 'price=gte:10 or price=gt:10'],
    ['price=>=10', 'price=gte:10'],
    ['price=<10', 'price=lte:10 or price=lt:10'],
    ['price=!10', 'price=ne:10'],
  ])('the query parser rejects %s and proposes the intended condition', (text, meant) => {
    expect(refusal(() => query(text)).errors[0]?.detail).toMatch(new RegExp(`; write ${meant}$`));
  });

  it.each(['price=>x', 'price=cheap', 'status=>sold'])('the query parser proposes nothing for %s', (text) => {
    expect(refusal(() => query(text)).errors[0]?.detail).not.toContain('; write ');
  });

  describe('on a field with a closed list of values and an index', () => {
    const { status, ...others } = sample.fields;
    if (status === undefined) throw new Error('the sample has a status');
    const spec = { ...sample, fields: { ...others, status: { ...status, scansByValue: ['createdAt'] } } };

    it.each([
      ['ne:pending', { operator: 'in', values: ['active', 'available', 'backorder'] }],
      ['ne:pending,ne:active,ne:pending', { operator: 'in', values: ['available', 'backorder'] }],
      ['ne:pending,in:pending,active', { operator: 'eq', value: 'active' }],
      ['ne:pending,eq:pending', { operator: 'in', values: [] }],
      ['ne:available,ne:pending,ne:backorder,ne:active', { operator: 'in', values: [] }],
      ['in:active,pending', { operator: 'in', values: ['active', 'pending'] }],
    ])('the query parser reads %s as the values that meet it', (text, expected) => {
      expect(fromQuery(spec, { status: text }).conditions).toEqual([{ field: 'status', ...expected }]);
      expect(fromQuery(spec, { status: text, name: 'A' }).conditions).toHaveLength(2);
    });

    it('the query parser finds that conditions exclude every value', () => {
      const criteria = fromQuery(spec, { status: statuses.map((each) => `ne:${each}`) });
      expect(matchesNothing(spec, criteria)).toBe(true);
      expect(matchesNothing(spec, fromQuery(spec, { status: 'ne:active' }))).toBe(false);
    });
  });

  it('the query parser counts the criteria of a sort as they were written', () => {
    const [, surplus] = faultsOf(() => query('sort=price,name:asc,rating:asc,createdAt:asc,foo:asc'));
    expect(surplus).toMatchObject({ position: 27, detail: expect.stringContaining('these are 5') });
  });

  it('the query parser also lists the given faults', () => {
    const found = [{ parameter: 'accountId', detail: 'must be me' }];
    const faults = faultsOf(() => fromQuery(sample, { price: ['x'] }, found));
    expect(faults).toMatchObject([...found, { parameter: 'price' }]);
    expect(faultsOf(() => fromQuery(sample, {}, found))).toEqual(found);
  });
});

describe('the body spelling', () => {
  it('the body parser reads filters, alternatives, sort, pagination and fields', () => {
    const body = {
      filters: {
        price: { gte: 10, lt: 20 },
        brand: { ne: ['B', 'A'] },
        or: [{ rating: { gte: 4 } }, { status: { in: ['active', 'active'] } }],
      },
      sort: [{ field: 'price', direction: 'asc' }],
      pagination: { limit: 7, cursor: 'x' },
      fields: ['price', 'id'],
    };
    expect(fromBody(sample, body)).toEqual({
      conditions: [
        { field: 'brand', operator: 'ne', value: 'A' },
        { field: 'brand', operator: 'ne', value: 'B' },
        { field: 'price', operator: 'lt', value: 2000 },
        { field: 'price', operator: 'gte', value: 1000 },
      ],
      or: [[{ field: 'rating', operator: 'gte', value: 40 }], [{ field: 'status', operator: 'eq', value: 'active' }]],
      sort: [
        { field: 'price', direction: 'asc' },
        { field: 'id', direction: 'asc' },
      ],
      limit: 7,
      cursor: 'x',
      fields: ['id', 'price'],
    });
  });

  it('the body parser accepts the values of `in` as strings, as the specification writes them', () => {
    const of = (values: unknown[]) => fromBody(sample, { filters: { price: { in: values } } });
    expect(of(['10.00', '19.99'])).toEqual(of([10, 19.99]));
    expect(faultsOf(() => of(['10', 'cheap', true])).map(({ pointer }) => pointer)).toEqual([
      '/filters/price/in/1',
      '/filters/price/in/2',
    ]);
  });

  it.each([
    [[], ''],
    [null, ''],
    ['text', ''],
    [{ filter: {} }, '/filter'],
    [{ filters: [] }, '/filters'],
    [{ filters: { stock: { eq: 1 } } }, '/filters/stock/eq'],
    [JSON.parse('{"filters":{"__proto__":{"eq":1}}}'), '/filters/__proto__/eq'],
    [{ filters: { constructor: { eq: 1 } } }, '/filters/constructor/eq'],
    [{ filters: { 'a/b~c': { eq: 1 } } }, '/filters/a~1b~0c/eq'],
    [{ filters: { price: 10 } }, '/filters/price'],
    [{ filters: { price: {} } }, '/filters/price'],
    [{ filters: { price: { eq: '10' } } }, '/filters/price/eq'],
    [JSON.parse('{"filters":{"price":{"eq":1e400}}}'), '/filters/price/eq'],
    [{ filters: { price: { eq: 1e-7 } } }, '/filters/price/eq'],
    [{ filters: { price: { like: 10 } } }, '/filters/price/like'],
    [{ filters: { brand: { in: 'A' } } }, '/filters/brand/in'],
    [{ filters: { brand: { in: [] } } }, '/filters/brand/in'],
    [{ filters: { brand: { in: ['A', 1] } } }, '/filters/brand/in/1'],
    [{ filters: { brand: { ne: [] } } }, '/filters/brand/ne'],
    [{ filters: { brand: { eq: 'a\0b' } } }, '/filters/brand/eq'],
    [{ filters: { brand: { eq: '\ud800' } } }, '/filters/brand/eq'],
    [{ filters: { brand: { eq: 'x'.repeat(101) } } }, '/filters/brand/eq'],
    [{ filters: { or: {} } }, '/filters/or'],
    [{ filters: { or: [] } }, '/filters/or'],
    [{ filters: { or: [{}] } }, '/filters/or/0'],
    [{ filters: { or: [{ or: [{ price: { eq: 1 } }], price: { eq: 1 } }] } }, '/filters/or/0/or'],
    [{ sort: 'price:asc' }, '/sort'],
    [{ sort: [] }, '/sort'],
    [{ sort: [{ field: 'price' }] }, '/sort/0'],
    [{ sort: [{ field: 'price', direction: 'ASC' }] }, '/sort/0'],
    [{ sort: [{ field: 'price', direction: 'asc', nulls: 'first' }] }, '/sort/0/nulls'],
    [{ pagination: { limit: '5' } }, '/pagination/limit'],
    [{ pagination: { limit: 1.5 } }, '/pagination/limit'],
    [{ pagination: { cursor: 5 } }, '/pagination/cursor'],
    [{ pagination: { page: 5 } }, '/pagination/page'],
    [{ fields: [] }, '/fields'],
    [{ fields: ['stock'] }, '/fields/0'],
  ])('the body parser rejects %j at %s', (body, pointer) => {
    const faults = faultsOf(() => fromBody(sample, body));
    expect(faults).toHaveLength(1);
    expect(faults[0]?.pointer).toBe(pointer);
  });

  it('the body parser lists the faults of structure and values together, without their consequences', () => {
    const filters = { price: { gte: 'x' }, brand: { in: [] }, or: [{ rating: 5 }, 5, { status: { eq: 'sold' } }] };
    const body = { foo: 1, filters, sort: ['price', { field: 'foo', direction: 'asc' }], pagination: { limit: 0 } };
    expect(faultsOf(() => fromBody(sample, body)).map(({ pointer }) => pointer)).toEqual([
      '/foo',
      '/filters/brand/in',
      '/filters/or/0/rating',
      '/filters/or/1',
      '/sort/0',
      '/filters/price/gte',
      '/filters/or/2/status/eq',
      '/sort/1',
      '/pagination/limit',
    ]);
    const found = [{ parameter: 'page', detail: 'is not a known parameter' }];
    expect(faultsOf(() => fromBody(sample, {}, found))).toEqual(found);
  });
});

describe('round trips', () => {
  it('a round trip restores criteria from their query', () => {
    fc.assert(
      fc.property(criteria(0), (given) => {
        expect(query(toQuery(sample, given))).toEqual(given);
      }),
      { numRuns: 2000 },
    );
  });

  it('a round trip restores criteria from their body', () => {
    fc.assert(
      fc.property(criteria(5), (given) => {
        expect(fromBody(sample, JSON.parse(JSON.stringify(toBody(sample, given))))).toEqual(given);
      }),
      { numRuns: 2000 },
    );
  });

  it('a round trip restores any string as a value, from a body and from a query', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const given = fromBody(sample, { filters: { brand: { eq: value } } });
        expect(given.conditions).toEqual([{ field: 'brand', operator: 'eq', value }]);
        expect(query(toQuery(sample, given))).toEqual(given);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('bounds', () => {
  it('the parser rejects a list that is too long and shows the nearest query', () => {
    const names = Array.from({ length: 130 }, (_, index) => `brand${index}`);
    const problem = refusal(() => query(`brand=${names.join()}&limit=5`));
    expect(problem.code).toBe('query-too-costly');
    expect(problem.extensions.exceeded).toEqual([{ bound: 'listValues', maximum: 100, actual: 130 }]);
    const nearest = query(String(problem.extensions.nearest));
    expect(nearest.limit).toBe(5);
    expect(nearest.conditions[0]).toMatchObject({ field: 'brand', operator: 'in' });
  });

  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

  it('the parser rejects a list that is too long, also when only its first values miss the other conditions', () => {
    const problem = refusal(() => query(`price=in:${numbers(1, 200)},gte:150`));
    expect(problem.extensions.exceeded).toEqual([{ bound: 'listValues', maximum: 100, actual: 200 }]);
    expect(query(String(problem.extensions.nearest)).conditions).toEqual([
      { field: 'price', operator: 'gte', value: 15000 },
      { field: 'price', operator: 'in', values: numbers(150, 200).map((price) => price * 100) },
    ]);
  });

  it('the parser proposes those values of a list that meet the other conditions', () => {
    const problem = refusal(() => query(`price=in:${numbers(1, 101)},gte:101`));
    expect(query(String(problem.extensions.nearest)).conditions).toEqual([
      { field: 'price', operator: 'eq', value: 10100 },
      { field: 'price', operator: 'gte', value: 10100 },
    ]);
  });

  it('the parser proposes only queries that are accepted', () => {
    // Lists with about as many values as permitted, some with duplicates, beside conditions that exclude some, all or
    // none of the values.
    const price = fc.integer({ min: 0, max: 160 });
    const list = fc.oneof(
      fc.tuple(fc.integer({ min: 0, max: 40 }), price).map(([from, more]) => numbers(from, from + more)),
      fc.tuple(price, price).map(([value, more]) => Array<number>(more + 1).fill(value)),
    );
    const seldom = <T>(given: fc.Arbitrary<T>) =>
      fc.oneof({ arbitrary: given, weight: 1 }, { arbitrary: fc.constant(undefined), weight: 3 });
    const written = fc.record({
      in: fc.option(list, { nil: undefined }),
      eq: seldom(price),
      ne: seldom(fc.array(price, { minLength: 1, maxLength: 22 })),
      gte: seldom(price),
      lt: seldom(price),
      gt: fc.constant(-1),
    });
    const proposals = { query: 0, body: 0 };
    fc.assert(
      fc.property(written, fc.array(written, { minLength: 1, maxLength: 7 }), (own, or) => {
        const body = { filters: { price: own, or: or.map((group) => ({ price: group, brand: { ne: 'A' } })) } };
        const proposed = tooCostly(() => fromBody(sample, JSON.parse(JSON.stringify(body))));
        if (proposed === undefined) return;
        proposals.body += 1;
        fromBody(sample, JSON.parse(JSON.stringify(proposed)));
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(written, ({ in: values, ne = [], ...single }) => {
        const items = [...(values ? [`in:${values}`] : []), ...ne.map((value) => `ne:${value}`)];
        for (const [operator, value] of Object.entries(single)) {
          if (value !== undefined) items.push(`${operator}:${value}`);
        }
        const proposed = tooCostly(() => query(`price=${items}`));
        if (proposed === undefined) return;
        proposals.query += 1;
        query(String(proposed));
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(proposals.body, proposals.query)).toBeGreaterThan(100);
  });

  it('the parser proposes queries that together return the requested rows', () => {
    const brand = (index: number) => `B${index % 37}-${index}`;
    const rows = numbers(0, 399).map((index) => {
      return { brand: brand(index), price: 100 * (index % 250), name: `N${index % 7}`, status: 'active', rating: null };
    });
    const shuffled = <T>(all: readonly T[], most: number) =>
      fc.shuffledSubarray([...all], { minLength: 1, maxLength: Math.min(most, all.length) });
    const brandList = shuffled(
      rows.map((row) => row.brand),
      400,
    );
    const priceList = shuffled(numbers(0, 260), 260);
    const filter = fc.record(
      {
        brand: brandList.map((list) => ({ in: list })),
        price: fc.record({ in: priceList, gte: fc.integer({ min: 0, max: 100 }) }, { requiredKeys: ['in'] }),
        name: fc.constantFrom({ eq: 'N3' }, { ne: 'N3' }),
      },
      { requiredKeys: [] },
    );
    const alternative = filter.filter((each) => Object.keys(each).length > 0);
    let proposals = 0;
    fc.assert(
      fc.property(filter, fc.array(alternative, { maxLength: 3 }), (own, or) => {
        const filters = { ...own, ...(or.length > 0 && { or }) };
        const body = JSON.parse(JSON.stringify({ filters }));
        const problem = tooCostlyProblem(() => fromBody(sample, body));
        const split = problem?.extensions.split;
        if (!Array.isArray(split)) return;
        proposals += 1;
        expect(split.length).toBeLessThanOrEqual(20);
        const accepted = split.map((each) => fromBody(sample, each));
        const meetsOwn = (row: (typeof rows)[number], each: typeof own) =>
          (each.brand === undefined || each.brand.in.includes(row.brand)) &&
          (each.price === undefined ||
            (each.price.in.includes(row.price / 100) && row.price / 100 >= (each.price.gte ?? 0))) &&
          (each.name === undefined || 'eq' in each.name === (row.name === 'N3'));
        for (const row of rows) {
          const isAsked = meetsOwn(row, own) && (or.length === 0 || or.some((each) => meetsOwn(row, each)));
          expect(accepted.some((each) => matches(each, row))).toBe(isAsked);
        }
      }),
      { numRuns: 300 },
    );
    expect(proposals).toBeGreaterThan(50);
  });

  it('the parser preserves the order of the values that the client sent', () => {
    const values = numbers(1, 130).reverse();
    const { nearest, split } = refusal(() => query(`price=in:${values}&brand=b,a`)).extensions;
    const listed = (text: unknown) => new URLSearchParams(String(text)).get('price')?.split(',').map(Number);
    expect(listed(nearest)).toEqual(values.slice(0, 100));
    expect(new URLSearchParams(String(nearest)).get('brand')).toBe('b,a');
    expect(Array.isArray(split) && split.map(listed)).toEqual([values.slice(0, 100), values.slice(100)]);
  });

  it('the parser rejects too many conditions and groups, and its proposal is accepted', () => {
    const group = (n: number) => ({ price: { gte: n, lt: n + 1 }, rating: { gte: 1 }, brand: { ne: ['A', `B${n}`] } });
    const body = { filters: { or: [1, 2, 3, 4, 5, 6, 7].map(group) } };
    const problem = refusal(() => fromBody(sample, body));
    expect(problem.status).toBe(422);
    expect(problem.extensions.exceeded).toEqual([
      { bound: 'conditions', maximum: 20, actual: 35 },
      { bound: 'groups', maximum: 5, actual: 7 },
    ]);
    expect(problem.errors[1]?.pointer).toBe('/filters/or/5');
    expect(fromBody(sample, problem.extensions.nearest).or).toHaveLength(4);
  });

  it('the parser reports at most fifty faults of an amplified list', () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, { eq: 1 }]));
    expect(faultsOf(() => fromBody(sample, body))).toHaveLength(50);
  });
});
