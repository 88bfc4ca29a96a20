// The pure parts of a search: its text, its terms as queries of PostgreSQL, and the distance between words.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@shop/shared/testing';
import fc from 'fast-check';
import pg from 'pg';
import { editDistance } from '../src/search/edit-distance.ts';
import { readFacets } from '../src/search/facets.ts';
import { longestSearch, readSearchText } from '../src/search/search-text.ts';
import { inAll, inHead, inNames, inParts, largePart, onlyParts, parts, type Terms } from '../src/search/terms.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase(['catalogue']);
  client = new pg.Client({ connectionString: database.urls.catalogue });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const anyText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
const lexeme = anyText.filter((text) => text !== '');
const terms: fc.Arbitrary<Terms> = fc.array(
  fc.array(fc.array(lexeme, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 4 },
);

/** Whether a document with these lexemes matches a tsquery in PostgreSQL. */
async function meets(lexemes: readonly string[], query: string): Promise<boolean> {
  const text = 'SELECT array_to_tsvector($1::text[]) @@ $2::tsquery AS meets';
  return (await client.query<{ meets: boolean }>(text, [lexemes, query])).rows[0]?.meets ?? false;
}

describe('the queries of terms', () => {
  it('the queries of terms are met by exactly the documents that have one alternative of each term', async () => {
    const given = fc.record({ terms, chosen: fc.infiniteStream(fc.nat()), isInHead: fc.boolean(), leftOut: fc.nat() });
    const check = async ({
      terms: asked,
      chosen,
      isInHead,
      leftOut,
    }: typeof given extends fc.Arbitrary<infer T> ? T : never) => {
      const mark = isInHead ? '' : '~';
      const found = asked.flatMap((term) =>
        (term[(chosen.next().value ?? 0) % term.length] ?? []).map((each) => mark + each),
      );
      expect(await meets(found, inAll(asked))).toBe(true);
      if (isInHead) expect(await meets(found, inHead(asked))).toBe(true);
      const missing = asked[leftOut % asked.length]?.flat() ?? [];
      const rest = found.filter((each) => !missing.includes(each) && !missing.some((one) => each === `~${one}`));
      expect(await meets([...rest, 'x'.repeat(50)], inAll(asked))).toBe(false);
    };
    await fc.assert(fc.asyncProperty(given, check), { numRuns: 300 });
  });

  it('the queries of terms are restricted to brands and categories that every product must have', async () => {
    await fc.assert(
      fc.asyncProperty(lexeme, lexeme, async (brand, other) => {
        const query = inNames(inHead([[['word']]]), [
          { field: 'brand', operator: 'eq', value: brand },
          { field: 'price', operator: 'eq', value: 1 },
          { field: 'category', operator: 'ne', value: 'any' },
        ]);
        expect(await meets(['word', `@${brand}`], query)).toBe(true);
        expect(await meets(['word', `@${other}`, `/${brand}`], query)).toBe(brand === other);
      }),
      { numRuns: 200 },
    );
  });

  it('the queries of terms divide all products into windows', async () => {
    for (const width of [1, 3, 8, largePart]) {
      const windows = Array.from({ length: Math.ceil(parts / width) }, (_, index) => onlyParts(index * width, width));
      for (const part of [0, 1, 31, 32, 500, parts - 1]) {
        const own = [`#${part}`, `%${part >> 5}`];
        const met = await Promise.all(windows.map((window) => meets(own, window)));
        expect(met.filter(Boolean)).toHaveLength(1);
        expect(met[Math.floor(part / width)]).toBe(true);
      }
    }
    expect(await meets(['word', '#0'], inParts(inHead([[['word']]]), 0, 1))).toBe(true);
    expect(await meets(['word', '#1'], inParts(inHead([[['word']]]), 0, 1))).toBe(false);
  });
});

describe('the entry of a product', () => {
  it('the entry of a product is written for every text that a product may have, and found by each of its words', async () => {
    const entry = `
      SELECT (SELECT bool_and(lexemes @@ to_tsquery_of.query) FROM (
        SELECT (SELECT string_agg(quote_literal(replace(lexeme, '\\', '\\\\')), ' & ')::tsquery
          FROM unnest(to_tsvector('search', search_text($2, false)))) AS query) AS to_tsquery_of) AS found
      FROM search_entry(gen_random_uuid(), $2, 'b', 'c', $3)`
      .replaceAll('$2', '$1')
      .replaceAll('$3', '$2');
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (name, description) => {
        const { rows } = await client.query<{ found: boolean | null }>(entry, [`a ${name}`.slice(0, 200), description]);
        expect(rows[0]?.found).not.toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the distance between words', () => {
  it.each([
    ['kettle', 'kettle', 0],
    ['ketle', 'kettle', 1],
    ['kettel', 'kettle', 1],
    ['kittle', 'kettle', 1],
    ['lamp', 'lamps', 1],
    ['expreso', 'espresso', 2],
    ['', 'abc', 3],
  ])('the distance between the words %s and %s is %i', (one, other, expected) => {
    expect(editDistance(one, other)).toBe(expected);
  });

  it('the distance between words is symmetric, and at most the length of the longer word', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
        const distance = editDistance(one, other);
        expect(distance).toBe(editDistance(other, one));
        expect(distance).toBeLessThanOrEqual(Math.max([...one].length, [...other].length));
        expect(distance === 0).toBe(one === other);
      }),
    );
  });

  it('the distance between words does not exceed the reach of the index of typing errors', async () => {
    const letter = fc.constantFrom('a', 'b', 'c', 'é', 'ж');
    const change = fc.record({
      at: fc.nat(12),
      letter,
      kind: fc.constantFrom('left out', 'added', 'replaced', 'swapped'),
    });
    const word = fc.array(letter, { minLength: 4, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(word, fc.array(change, { minLength: 1, maxLength: 2 }), async (letters, changes) => {
        const typed: string[] = [...letters];
        for (const { at, letter: wrong, kind } of letters.length >= 8 ? changes : changes.slice(0, 1)) {
          const [first = '', second = ''] = typed.slice(at, at + 2);
          if (kind === 'left out') typed.splice(at, 1);
          else if (kind === 'added') typed.splice(at, 0, wrong);
          else if (kind === 'replaced') typed.splice(at, 1, wrong);
          else typed.splice(at, 2, second, first);
        }
        const [known, asked] = [letters.join(''), typed.join('')];
        if (editDistance(known, asked) > (asked.length >= 8 ? 2 : 1)) return;
        const { rows } = await client.query('SELECT search_keys($1) && search_keys($2) AS near', [known, asked]);
        expect({ known, asked, near: rows[0]?.near }).toEqual({ known, asked, near: true });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the text of a search', () => {
  it('the text of a search is accepted exactly when it has a letter or a digit, and at most 100 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (written) => {
        const { text, faults } = readSearchText(written, { parameter: 'q' }, []);
        const isRight =
          /[\p{L}\p{N}]/u.test(written) && !written.includes('\0') && [...written].length <= longestSearch;
        expect(text !== undefined).toBe(isRight);
        expect(faults).toHaveLength(isRight ? 0 : 1);
      }),
    );
  });

  it('a search string that the contract has rejected gets no second fault', () => {
    const found = [{ parameter: 'q', detail: 'is too long' }];
    expect(readSearchText('', { parameter: 'q' }, found)).toEqual({ text: undefined, faults: [] });
  });
});

describe('the names of facets', () => {
  it('the names of facets are accepted exactly when they are known and none is repeated', () => {
    const name = fc.constantFrom<unknown>('brand', 'category', 'price', 'name', 1, null);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), (list) => {
        const known = list.every((each) => ['brand', 'category', 'price'].includes(String(each)));
        const isRight = list.length > 0 && known && new Set(list).size === list.length;
        const { names, faults } = readFacets(list, (index) => ({ pointer: `/facets/${index}` }));
        expect(faults).toHaveLength(isRight ? 0 : 1);
        expect(new Set(names)).toEqual(new Set(isRight ? list : []));
      }),
    );
  });
});
