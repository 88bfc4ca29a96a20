// A cached page is removed exactly when a change affects it.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PageCache, type PageRange, type RowValues } from '../../src/collection/index.ts';

type Criteria = PageRange['criteria'];
type SortKey = NonNullable<PageRange['after']>;
type Row = RowValues & { readonly id: string };

// Texts beyond the first plane, where the order by code point differs from that by UTF-16 unit.
const names = ['A', 'a', 'Z', '\uFB01', '𝒜', '😀'];
const row = (id: string): fc.Arbitrary<Row> =>
  fc.record({
    id: fc.constant(id),
    name: fc.constantFrom(...names),
    brand: fc.constantFrom('X', 'Y'),
    price: fc.nat(4),
    rating: fc.option(fc.nat(3), { nil: null }),
  });
const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
const rows = fc.tuple(...ids.map((id) => fc.option(row(id), { nil: undefined, freq: 4 })));

const condition = fc.oneof(
  fc.record({ field: fc.constant('brand'), operator: fc.constantFrom('eq', 'ne'), value: fc.constantFrom('X', 'Y') }),
  fc.record({ field: fc.constant('price'), operator: fc.constantFrom('lt', 'gte'), value: fc.nat(4) }),
  fc.record({ field: fc.constant('rating'), operator: fc.constantFrom('lte', 'gt', 'eq'), value: fc.nat(3) }),
);
const direction = fc.constantFrom('asc', 'desc');
const criteria: fc.Arbitrary<Criteria> = fc.record({
  conditions: fc.array(condition, { maxLength: 1 }),
  or: fc.oneof(fc.constant([]), fc.tuple(fc.tuple(condition), fc.tuple(condition))),
  sort: fc
    .tuple(
      fc.array(fc.record({ field: fc.constantFrom('name', 'price', 'rating'), direction }), { maxLength: 2 }),
      direction,
    )
    .map(([fields, last]) => [...fields, { field: 'id', direction: last }]),
  limit: fc.integer({ min: 1, max: 3 }),
  fields: fc.constant(undefined),
  cursor: fc.constant(undefined),
}) as fc.Arbitrary<Criteria>;

const codePoints = (text: string) => [...text].map((character) => character.codePointAt(0) ?? 0);

/** The order of PostgreSQL, implemented differently from the tested code. */
function order(one: unknown, other: unknown): number {
  if (typeof one === 'number') return one - Number(other);
  const [a, b] = [codePoints(String(one)), codePoints(String(other))];
  const index = a.findIndex((point, at) => point !== b[at]);
  return index < 0 ? a.length - b.length : (a[index] ?? 0) - (b[index] ?? -1);
}

function compareSortKeys(sort: Criteria['sort'], one: SortKey, other: SortKey): number {
  for (const [index, each] of sort.entries()) {
    const [a, b] = [one[index] ?? null, other[index] ?? null];
    if (a === b) continue;
    if (a === null || b === null) return a === null ? 1 : -1;
    return each.direction === 'asc' ? order(a, b) : order(b, a);
  }
  return 0;
}

function isMet({ field, operator, ...rest }: Criteria['conditions'][number], of: RowValues): boolean {
  const value = of[field] ?? null;
  const wanted = 'value' in rest ? rest.value : undefined;
  if (value === null || wanted === undefined) return false;
  const sign = Math.sign(order(value, wanted));
  return { eq: sign === 0, ne: sign !== 0, lt: sign < 0, lte: sign <= 0, gt: sign > 0, gte: sign >= 0, in: false }[
    operator
  ];
}

const sortKeyOf = ({ sort }: Criteria, of: RowValues): SortKey => sort.map(({ field }) => of[field] ?? null);

/** Returns the page as the database would read it, and its range. */
function read(all: readonly Row[], of: Criteria, after: SortKey | undefined): { text: string; range: PageRange } {
  const found = all
    .filter((each) => of.conditions.every((one) => isMet(one, each)))
    .filter((each) => of.or.length === 0 || of.or.some((group) => group.every((one) => isMet(one, each))))
    .sort((one, other) => compareSortKeys(of.sort, sortKeyOf(of, one), sortKeyOf(of, other)))
    .filter((each) => after === undefined || compareSortKeys(of.sort, sortKeyOf(of, each), after) > 0);
  const shown = found.slice(0, of.limit);
  const [next] = found.slice(of.limit);
  const last = next && shown.at(-1);
  return {
    text: JSON.stringify([shown, next !== undefined]),
    range: {
      criteria: of,
      nextRowId: next?.id,
      after,
      until: last && sortKeyOf(of, last),
    },
  };
}

const open = (maximumBytes = 1e6) => new PageCache<{ readonly body: Buffer }>({ maximumBytes });

function keep(
  cache: PageCache<{ readonly body: Buffer }>,
  text: string,
  page: { text: string; range: PageRange },
): void {
  cache.begin().keep(text, { body: Buffer.from(page.text) }, page.range);
}

const found = (cache: PageCache<{ readonly body: Buffer }>, text: string): string | undefined =>
  cache.find(text)?.body.toString();

/** Every possible change of one row, with one page. */
const situation = fc.record({
  rows,
  criteria,
  after: fc.option(row('m'), { nil: undefined }),
  changed: fc.constantFrom(...ids).chain((id) => fc.tuple(fc.constant(id), fc.option(row(id), { nil: undefined }))),
});

const byId: Criteria = {
  conditions: [],
  or: [],
  sort: [{ field: 'id', direction: 'asc' }],
  limit: 2,
  fields: undefined,
  cursor: undefined,
};

describe('a kept page', () => {
  it('a cached page is dropped exactly when a change makes it another one', () => {
    fc.assert(
      fc.property(situation, ({ rows: given, criteria: of, after, changed: [id, present] }) => {
        const place = after && sortKeyOf(of, after);
        const before = given.filter((each) => each !== undefined);
        const later = [...before.filter((each) => each.id !== id), ...(present ? [present] : [])];
        const page = read(before, of, place);
        const isChanged = read(later, of, place).text !== page.text;
        const wasShown = JSON.parse(page.text)[0].some((each: Row) => each.id === id);
        const cache = open();
        keep(cache, 'page', page);
        cache.apply({ id, before: before.find((each) => each.id === id), after: present });
        if (isChanged) expect(found(cache, 'page')).toBeUndefined();
        // A row on the page counts as changed. The page does not know which row follows the one after it.
        else if (!wasShown && page.range.nextRowId !== id) expect(found(cache, 'page')).toBe(page.text);
      }),
      { numRuns: 5_000 },
    );
  });

  it('a page is not cached when a change that affects it arrives while it is read', () => {
    const cache = open();
    const page = read([{ id: 'b' }], byId, undefined);
    const pending = [cache.begin(), cache.begin()];
    cache.apply({ id: 'a', before: undefined, after: { id: 'a' } });
    pending[0]?.keep('page', { body: Buffer.from(page.text) }, page.range);
    expect(found(cache, 'page')).toBeUndefined();
    const next = read([{ id: 'a' }, { id: 'b' }, { id: 'c' }], byId, undefined);
    keep(cache, 'page', next);
    expect(found(cache, 'page')).toBe(next.text);
    cache.clear();
    pending[1]?.keep('page', { body: Buffer.from(next.text) }, next.range);
    expect([found(cache, 'page'), cache.pages, cache.bytes]).toEqual([undefined, 0, 0]);
  });
});

describe('the memory for pages', () => {
  const page = read([{ id: 'a' }], byId, undefined);
  const large = { ...page, text: 'x'.repeat(10_000) };

  it('the memory of the page cache is limited, and pages that were not used recently are dropped', () => {
    const cache = open(100_000);
    keep(cache, 'first', page);
    for (let index = 0; index < 200; index += 1) {
      found(cache, 'first');
      keep(cache, `page ${index}`, large);
      found(cache, `page ${index}`);
      expect(cache.bytes).toBeLessThanOrEqual(100_000);
    }
    expect(found(cache, 'first')).toBe(page.text);
    expect(found(cache, 'page 0')).toBeUndefined();
    for (let index = 199; index > 193; index -= 1) expect(found(cache, `page ${index}`)).toBe(large.text);
  });

  it('the page cache stores no page with a long URL or a large body', () => {
    const cache = open();
    keep(cache, 'x'.repeat(2_001), page);
    keep(cache, 'large', { ...page, text: 'x'.repeat(130 * 1024) });
    expect(cache.pages).toBe(0);
  });

  it('the page cache limits the number of different conditions that each change is compared with', () => {
    const cache = open(1e7);
    const cheaper = (value: number): Criteria => ({ ...byId, conditions: [{ field: 'price', operator: 'lt', value }] });
    for (let price = 0; price < 600; price += 1) {
      found(cache, 'page 0');
      keep(cache, `page ${price}`, { ...page, range: { ...page.range, criteria: cheaper(price) } });
    }
    expect(cache.pages).toBe(500);
    expect([found(cache, 'page 0'), found(cache, 'page 1')]).toEqual([page.text, undefined]);
  });

  it('the page cache drops the oldest of too many pages that are read and never cached', () => {
    const cache = open();
    const [first, ...others] = Array.from({ length: 1_001 }, () => cache.begin());
    first?.keep('first', { body: Buffer.from('1') }, page.range);
    others[0]?.keep('second', { body: Buffer.from('2') }, page.range);
    expect([found(cache, 'first'), found(cache, 'second')]).toEqual([undefined, '2']);
  });

  it('dropped pages free their memory, and a page that is larger than the cache is not cached', () => {
    const cache = open(100_000);
    for (const text of ['one', 'two', 'two']) keep(cache, text, page);
    found(cache, 'one');
    expect(cache.pages).toBe(2);
    cache.apply({ id: 'a', before: { id: 'a' }, after: undefined });
    expect([cache.pages, cache.bytes]).toEqual([0, 0]);
    keep(cache, 'large', { ...page, text: 'x'.repeat(100_000) });
    expect([cache.pages, cache.bytes]).toEqual([0, 0]);
  });
});
