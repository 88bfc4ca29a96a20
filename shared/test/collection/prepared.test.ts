// Connections keep frequent statements prepared, and only a bounded amount of those that clients invent.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Collection, createCursors, fromBody, openCollection, readPage } from '../../src/collection/index.ts';
import { createTestDatabase, type TestDatabase } from '../../src/testing/index.ts';
import { sample } from './sample.ts';

const newCursors = () => createCursors([Buffer.alloc(32, 1)]);
const brands = (count: number, group = 0) => Array.from({ length: count }, (_, index) => `brand ${group} ${index}`);

describe('a connection', () => {
  let database: TestDatabase;
  let connection: pg.Client;
  let collection: Collection<unknown>;

  beforeAll(async () => {
    database = await createTestDatabase([]);
    connection = new pg.Client({ connectionString: database.urls.catalogue });
    await connection.connect();
    await connection.query(`CREATE TABLE samples (
      id uuid PRIMARY KEY, name text NOT NULL, brand text NOT NULL, price_minor bigint NOT NULL,
      rating_tenths smallint, status text NOT NULL, created_at timestamptz(3) NOT NULL)`);
    collection = openCollection(sample, newCursors());
  });
  afterAll(async () => {
    await connection.end();
    await database.drop();
  });

  /** Repeats a request often enough that its statement gets a name. */
  async function ask(body: object): Promise<void> {
    for (let time = 0; time < 4; time += 1) {
      await readPage({ collection, criteria: fromBody(sample, body), pool: connection, context: undefined });
    }
  }

  async function prepared(): Promise<string[]> {
    const { rows } = await connection.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
    return rows.map(({ statement }) => statement);
  }
  const textOf = (body: object) =>
    collection.prepared.get({ criteria: fromBody(sample, body), position: undefined, scope: {} }).statement.text;

  const usual: readonly object[] = [
    {},
    { filters: { price: { gte: 1, lte: 9 } }, sort: [{ field: 'price', direction: 'asc' }] },
    { filters: { or: [{ brand: { eq: 'A' }, price: { lt: 5 } }, { brand: { eq: 'B' } }] } },
    { filters: { brand: { in: brands(8) }, rating: { gte: 4 } } },
    { filters: { brand: { in: brands(8) } }, sort: [{ field: 'createdAt', direction: 'asc' }] },
  ];
  const long = { filters: { or: [1, 2, 3, 4, 5].map((group) => ({ brand: { in: brands(8, group) } })) } };

  it('a connection prepares usual statements, and no long ones', async () => {
    for (const body of [...usual, long]) await ask(body);
    expect(textOf(long).length).toBeGreaterThan(8_000);
    expect((await prepared()).sort()).toEqual(usual.map(textOf).sort());
  });

  it('a connection limits the characters of all named statements, and names each statement once', async () => {
    const shapes = Array.from({ length: 100 }, (_, index) => ({
      filters: { brand: { in: brands(8) } },
      pagination: { limit: index + 1 },
    }));
    expect(shapes.map(textOf).join('').length).toBeGreaterThan(150_000);
    for (const body of shapes) await ask(body);
    const statements = await prepared();
    expect(statements.join('').length).toBeLessThanOrEqual(100_000);
    expect(statements).toEqual(expect.arrayContaining(usual.map(textOf)));
    // A new collection has forgotten the shapes. It gives none of them a second name.
    collection = openCollection(sample, newCursors());
    for (const body of [...usual, ...shapes]) await ask(body);
    expect((await prepared()).sort()).toEqual(statements.sort());
  });
});
