// The concatenated pages equal an in-memory reference, for random tables and criteria, and while rows change.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import {
  type Condition,
  type Criteria,
  createCursors,
  fromBody,
  openCollection,
  readPage,
  toBody,
  toQuery,
} from '../../src/collection/index.ts';
import { createTestDatabase, type TestDatabase } from '../../src/testing/index.ts';
import { criteria } from './arbitraries.ts';
import { sample, statuses } from './sample.ts';

interface Row {
  id: string;
  name: string;
  brand: string;
  price: number;
  rating: number | null;
  status: string;
  createdAt: string;
}

let database: TestDatabase;
let pool: pg.Pool;
const cursors = createCursors([Buffer.alloc(32, 1)]);
let collection = openCollection(sample, cursors);

beforeAll(async () => {
  database = await createTestDatabase([]);
  pool = new pg.Pool({ connectionString: database.urls.catalogue, max: 4 });
  pool.on('error', () => {});
  await pool.query(`CREATE TABLE samples (
    id uuid PRIMARY KEY, name text COLLATE "C" NOT NULL, brand text COLLATE "C" NOT NULL, price_minor bigint NOT NULL,
    rating_tenths smallint, status text COLLATE "C" NOT NULL, created_at timestamptz(3) NOT NULL)`);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function insert(rows: readonly Row[]): Promise<void> {
  const column = <Key extends keyof Row>(key: Key) => rows.map((row) => row[key]);
  await pool.query(
    `INSERT INTO samples SELECT *
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::smallint[], $6::text[], $7::timestamptz[])`,
    [
      column('id'),
      column('name'),
      column('brand'),
      column('price'),
      column('rating'),
      column('status'),
      column('createdAt'),
    ],
  );
}

// Narrow ranges, so that ties, matches and absent values are common.
const pool0 = {
  name: fc.constantFrom('a', 'B', 'ä', '𝒜', 'Smith, "Sons"'),
  brand: fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J'),
  price: fc.integer({ min: 0, max: 5 }),
  rating: fc.integer({ min: 0, max: 3 }),
  status: fc.constantFrom(...statuses),
  createdAt: fc.integer({ min: 0, max: 4 }).map((step) => new Date(Date.UTC(2026, 10, 21) + step * 250).toISOString()),
};
const rowArbitrary: fc.Arbitrary<Row> = fc.record({ id: fc.uuid(), ...pool0, rating: fc.option(pool0.rating) });
const tableArbitrary = fc.uniqueArray(rowArbitrary, { minLength: 0, maxLength: 60, selector: ({ id }) => id });

function meets(row: Row, condition: Condition): boolean {
  const value = row[condition.field as keyof Row];
  if (value === null) return false;
  if (condition.operator === 'in') return condition.values.some((wanted) => wanted === value);
  const wanted = condition.value;
  return {
    eq: value === wanted,
    ne: value !== wanted,
    lt: value < wanted,
    lte: value <= wanted,
    gt: value > wanted,
    gte: value >= wanted,
  }[condition.operator];
}

/** Compares by code point, as COLLATE "C" compares UTF-8. */
function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

function reference(rows: readonly Row[], { conditions, or, sort }: Criteria): Row[] {
  return rows
    .filter((row) => conditions.every((condition) => meets(row, condition)))
    .filter((row) => or.length === 0 || or.some((group) => group.every((condition) => meets(row, condition))))
    .sort((a, b) => {
      for (const { field, direction } of sort) {
        const [x, y] = [a[field as keyof Row], b[field as keyof Row]];
        if (x === null || y === null) {
          if (x !== y) return x === null ? 1 : -1;
        } else if (compare(x, y) !== 0) return direction === 'asc' ? compare(x, y) : compare(y, x);
      }
      return 0;
    });
}

async function page(given: Criteria, url?: string) {
  const reply = await readPage({ collection, criteria: given, pool, context: undefined, ...(url ? { url } : {}) });
  return { headers: reply.headers, ...JSON.parse(reply.json) };
}

/** Reads all pages. Each request uses the other notation than the one before. */
async function walk(given: Criteria, between?: () => Promise<void>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let number = 0; ; number += 1) {
    const answer = await page(
      { ...given, fields: number % 2 ? ['id'] : undefined, cursor },
      number % 2 ? '/v1/x' : undefined,
    );
    expect(answer.items.length).toBeLessThanOrEqual(given.limit);
    ids.push(...answer.items.map(({ id }: Row) => id));
    if (!answer.pagination.hasMore) {
      expect(answer.pagination).toEqual({ limit: given.limit, hasMore: false });
      return ids;
    }
    expect(answer.items).toHaveLength(given.limit);
    cursor = answer.pagination.nextCursor;
    await between?.();
  }
}

describe('pages', () => {
  it('the pages of a list together equal the reference, in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        tableArbitrary,
        fc.array(criteria(3, pool0), { minLength: 8, maxLength: 8 }),
        async (rows, requests) => {
          await pool.query('TRUNCATE samples');
          await insert(rows);
          for (const request of requests) {
            const limit = 1 + (request.limit % 7);
            expect(await walk({ ...request, limit })).toEqual(reference(rows, request).map(({ id }) => id));
          }
        },
      ),
      { numRuns: 250 },
    );
  });

  it('the pages of a list contain every unchanged row exactly once while rows are inserted and deleted', async () => {
    await fc.assert(
      fc.asyncProperty(
        tableArbitrary,
        fc.uniqueArray(rowArbitrary, { maxLength: 30, selector: ({ id }) => id }),
        criteria(2, pool0),
        async (rows, newcomers, request) => {
          const fresh = newcomers.filter(({ id }) => rows.every((row) => row.id !== id));
          const leaving = rows.filter((_, index) => index % 3 === 0);
          const stayed = rows.filter((_, index) => index % 3 !== 0);
          await pool.query('TRUNCATE samples');
          await insert(rows);
          const arriving = [...fresh];
          const ids = await walk({ ...request, limit: 1 + (request.limit % 5) }, async () => {
            const [next] = arriving.splice(0, 1);
            if (next) await insert([next]);
            const [gone] = leaving.splice(0, 1);
            if (gone) await pool.query('DELETE FROM samples WHERE id = $1', [gone.id]);
          });
          const expected = reference(stayed, request).map(({ id }) => id);
          expect(ids.filter((id) => stayed.some((row) => row.id === id))).toEqual(expected);
          expect(new Set(ids).size).toBe(ids.length);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('the pages of a list continue with absent values when an alternative requires present ones', async () => {
    await pool.query('TRUNCATE samples');
    const rows = fc
      .sample(rowArbitrary, { seed: 5, numRuns: 12 })
      .map((row, index) => ({ ...row, rating: index < 4 ? 2 : null }));
    await insert(rows);
    const or = [{ rating: { gte: 1 } }, { price: { gte: 0 } }];
    const request = fromBody(sample, {
      filters: { or },
      sort: [{ field: 'rating', direction: 'desc' }],
      pagination: { limit: 3 },
    });
    expect(await walk(request)).toEqual(reference(rows, request).map(({ id }) => id));
  });

  it('the pages of a list contain exactly the requested results', async () => {
    await pool.query('TRUNCATE samples');
    await insert([
      {
        id: '00000000-0000-7000-8000-000000000001',
        name: 'a"b',
        brand: 'A',
        price: 5,
        rating: null,
        status: 'active',
        createdAt: '2026-11-21T03:00:00.120Z',
      },
      {
        id: '00000000-0000-7000-8000-000000000002',
        name: 'c',
        brand: 'A',
        price: 1999,
        rating: 45,
        status: 'active',
        createdAt: '2026-11-21T03:00:00Z',
      },
    ]);
    const sort = [{ field: 'id', direction: 'asc' }];
    expect((await page(fromBody(sample, { sort }))).items).toEqual([
      {
        id: '00000000-0000-7000-8000-000000000001',
        name: 'a"b',
        brand: 'A',
        price: 0.05,
        status: 'active',
        createdAt: '2026-11-21T03:00:00.120Z',
      },
      {
        id: '00000000-0000-7000-8000-000000000002',
        name: 'c',
        brand: 'A',
        price: 19.99,
        rating: 4.5,
        status: 'active',
        createdAt: '2026-11-21T03:00:00.000Z',
      },
    ]);
    const first = await page(
      fromBody(sample, { sort, fields: ['price'], pagination: { limit: 1 } }),
      '/v1/x?sort=id:asc&%63ursor=old&limit=1',
    );
    expect(first.items).toEqual([{ price: 0.05 }]);
    expect(first.headers.Link).toBe(`</v1/x?sort=id:asc&limit=1&cursor=${first.pagination.nextCursor}>; rel="next"`);
  });

  it('the pages of a list reject a cursor with another filter or sort order, and accept one with another limit or fields', async () => {
    const base = { filters: { brand: { eq: 'A' } }, pagination: { limit: 1 } };
    const { nextCursor: cursor } = (await page(fromBody(sample, base))).pagination;
    const next = (change: object) => page(fromBody(sample, { ...base, pagination: { limit: 1, cursor }, ...change }));
    expect((await next({ fields: ['id'], pagination: { limit: 5, cursor } })).items).toHaveLength(1);
    const refused = expect.objectContaining({
      code: 'invalid-cursor',
      errors: [expect.objectContaining({ pointer: '/pagination/cursor' })],
    });
    await expect(next({ filters: {} })).rejects.toEqual(refused);
    await expect(next({ filters: { brand: { eq: 'B' } } })).rejects.toEqual(refused);
    await expect(next({ sort: [{ field: 'createdAt', direction: 'asc' }] })).rejects.toEqual(refused);
  });

  it.each([
    [{ price: { gte: 20, lt: 10 } }],
    [{ price: { gte: 10, lt: 10 } }],
    [{ price: { gt: 5, eq: 5 } }],
    [{ brand: { eq: 'A', ne: 'A' } }],
    [{ brand: { eq: 'A', in: ['B'] } }],
    [{ brand: { in: ['A', 'B'], ne: ['A', 'B'] } }],
    [{ rating: { eq: 6 } }],
    [{ rating: { gt: 5 } }],
    [{ rating: { lt: 0 } }],
    [{ rating: { in: [-1, 5.1] } }],
    [{ price: { gte: 2 }, or: [{ price: { lt: 2 } }, { rating: { gte: 5.1 } }] }],
  ])('the pages of a list are empty, without a query, for %j', async (filters) => {
    const unreachable = { query: () => Promise.reject(new Error('the database was asked')) } as unknown as pg.Pool;
    const given = { collection, criteria: fromBody(sample, { filters }), pool: unreachable, context: undefined };
    const empty = JSON.stringify({ items: [], pagination: { limit: 20, hasMore: false } });
    expect(await readPage(given)).toMatchObject({ status: 200, headers: {}, json: empty });
  });

  it.each([
    [{ rating: { lte: 5 } }],
    [{ rating: { gte: 5 } }],
    [{ rating: { in: [5, 6] } }],
    [{ rating: { ne: 6 } }],
    [{ price: { gte: 10, lte: 10 } }],
    [{ or: [{ rating: { eq: 6 } }, { rating: { eq: 5 } }] }],
  ])('the pages of a list are read for %j, which a row can meet', async (filters) => {
    await pool.query('TRUNCATE samples');
    const row = { name: 'a', brand: 'A', price: 1000, rating: 50, status: 'active', createdAt: '2026-11-21T03:00:00Z' };
    await insert([{ ...row, id: '00000000-0000-7000-8000-000000000001' }]);
    expect((await page(fromBody(sample, { filters }))).items).toHaveLength(1);
  });

  it('a slow query returns 422', async () => {
    const slow = new pg.Pool({ connectionString: database.urls.catalogue, statement_timeout: 20 });
    slow.on('error', () => {}); // its database may be dropped before its last connection has closed
    const patient = { ...sample, from: 'samples CROSS JOIN LATERAL (SELECT pg_sleep(samples.price_minor)) AS slowly' };
    const request = {
      collection: openCollection(patient, cursors),
      criteria: fromBody(sample, {}),
      pool: slow,
      context: undefined,
    };
    await expect(readPage(request)).rejects.toMatchObject({ code: 'query-too-costly' });
    await slow.end();
  });
});

describe('a scope', () => {
  const scoped = { ...sample, scope: { brand: { column: 'brand', cast: 'text' } } } as const;
  const own = openCollection(scoped, cursors);

  it('a scope is never widened by filters, alternatives, sorts, projections or cursors', async () => {
    await fc.assert(
      fc.asyncProperty(tableArbitrary, criteria(3, pool0), async (rows, request) => {
        await pool.query('TRUNCATE samples');
        await insert(rows);
        let cursor: string | undefined;
        const seen: string[] = [];
        do {
          const given = { ...request, limit: 1 + (request.limit % 5), fields: ['id'], cursor };
          const { json } = await readPage({
            collection: own,
            criteria: given,
            pool,
            context: undefined,
            scope: { brand: 'A' },
          });
          const { items, pagination } = JSON.parse(json);
          seen.push(...items.map(({ id }: Row) => id));
          cursor = pagination.nextCursor;
          if (cursor) {
            const foreign = {
              collection: own,
              criteria: { ...given, cursor },
              pool,
              context: undefined,
              scope: { brand: 'B' },
            };
            await expect(readPage(foreign)).rejects.toMatchObject({ code: 'invalid-cursor' });
          }
        } while (cursor);
        const expected = reference(
          rows.filter(({ brand }) => brand === 'A'),
          request,
        );
        expect(seen).toEqual(expected.map(({ id }) => id));
      }),
      { numRuns: 200 },
    );
  });

  it.each([{}, { other: 'A' }, { brand: 'A', other: 'A' }])('a scope of %j is a programming error', async (scope) => {
    const request = { collection: own, criteria: fromBody(sample, {}), pool, context: undefined, scope };
    await expect(readPage(request as never)).rejects.toThrow(TypeError);
  });
});

describe('both spellings', () => {
  it('both notations accept the same cursors', async () => {
    await pool.query('TRUNCATE samples');
    await insert(fc.sample(rowArbitrary, { seed: 1, numRuns: 20 }));
    collection = openCollection(sample, cursors);
    const body = {
      filters: { price: { gte: 0 } },
      sort: [{ field: 'rating', direction: 'desc' }],
      pagination: { limit: 3 },
    };
    const { nextCursor: cursor } = (await page(fromBody(sample, body))).pagination;
    expect(toQuery(sample, fromBody(sample, body))).toBe('price=gte:0.00&sort=rating:desc,id:desc&limit=3');
    const { fromQuery } = await import('../../src/collection/index.ts');
    const query = fromQuery(sample, { price: 'gte:0', sort: 'rating:desc', limit: '3', cursor });
    expect(query).toEqual(fromBody(sample, { ...toBody(sample, query) }));
    expect((await page(query)).items).toHaveLength(3);
  });
});
