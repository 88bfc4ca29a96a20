// SEARCH_LANGUAGE: the endings that a search ignores, and the command that changes them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { rebuildSearch } from '../src/operator/index.ts';
import { addProducts } from './products.ts';

let services: TestServices;
beforeAll(async () => {
  services = await startServices(['catalogue'], { shared: false });
  await addProducts(services, [
    { name: 'Rote Schale', description: 'Mit Deckel' },
    { name: 'Blaue Schalen' },
    { name: 'Чёрные чашки' },
    { name: 'Yellow lamps' },
  ]);
});
afterAll(() => services.stop());

const catalogue = () => services.service('catalogue');
/** Returns the names of the products that a search finds. */
const found = async (q: string): Promise<string[]> => {
  const { body } = await catalogue().client.get(`/v1/products?q=${encodeURIComponent(q)}&fields=name`);
  return body.items.map(({ name }) => name);
};
const rebuild = (language: string) =>
  rebuildSearch({ DATABASE_URL: services.database.urls.catalogue, SEARCH_LANGUAGE: language });
/** Returns the stored words of a name. */
const wordsOf = async (name: string): Promise<string> => {
  const { rows } = await catalogue().database.query(
    'SELECT name_lexemes::text AS words FROM product_search JOIN products ON id = product_id WHERE name = $1',
    [name],
  );
  return rows[0].words;
};

describe('SEARCH_LANGUAGE', () => {
  it('SEARCH_LANGUAGE is English by default', async () => {
    expect(await found('lamp')).toEqual(['Yellow lamps']);
    expect(await found('schale')).toEqual(['Rote Schale']);
    expect(catalogue().output()).not.toContain('SEARCH_LANGUAGE');
  });

  it('SEARCH_LANGUAGE that differs from the stored words is a warning', async () => {
    await catalogue().restart({ SEARCH_LANGUAGE: 'german' });
    expect(catalogue().output()).toContain('SEARCH_LANGUAGE has no effect yet');
    expect(await found('lamp')).toEqual(['Yellow lamps']);
  });

  it('SEARCH_LANGUAGE rejects a language without stems', async () => {
    await expect(rebuild('klingon')).rejects.toThrow(/^SEARCH_LANGUAGE must be one of danish, /);
    await expect(rebuild('english; DROP TABLE products')).rejects.toThrow(/^SEARCH_LANGUAGE must be one of/);
  });
});

describe('search rebuild', () => {
  it('the command search rebuild changes the words of all products, and those of searches', async () => {
    expect(await rebuild('german')).toEqual({ language: 'german', changed: expect.any(Number) });
    await catalogue().restart({ SEARCH_LANGUAGE: 'german' });
    expect(catalogue().output().split('SEARCH_LANGUAGE has no effect').length).toBe(2);
    expect((await found('schale')).sort()).toEqual(['Blaue Schalen', 'Rote Schale']);
    // The search ignores a stop word.
    expect(await found('schalen mit blau')).toEqual(['Blaue Schalen']);
    expect(await found('чашка')).toEqual(['Чёрные чашки']);
  });

  it('the command search rebuild changes nothing when it is repeated', async () => {
    expect(await rebuild('german')).toEqual({ language: 'german', changed: 0 });
  });

  it('the command search rebuild is followed by products that are written afterwards', async () => {
    await addProducts(services, [{ name: 'Braune Stühle' }]);
    expect(await found('stuhl')).toEqual(['Braune Stühle']);
  });

  it('the command search rebuild does not miss a product that is created, or renamed, while it runs', async () => {
    const client = await catalogue().database.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO products (id, name, brand, category, price_minor, status)
         VALUES (gen_random_uuid(), 'Small tables', 'Acme', 'things', 100, 'available')`,
      );
      await client.query("UPDATE products SET name = 'Grey lamps' WHERE name = 'Yellow lamps'");
      const rebuilt = rebuild('english');
      await eventually(async () => {
        const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database()
          AND application_name = 'rebuild search' AND wait_event_type = 'Lock'`;
        expect((await catalogue().database.query(waiting)).rows).toHaveLength(1);
      });
      await client.query('COMMIT');
      await rebuilt;
    } finally {
      client.release(true);
    }
    expect(await wordsOf('Small tables')).toBe("'small' 'tabl'");
    expect(await wordsOf('Grey lamps')).toBe("'grey' 'lamp'");
    expect(await rebuild('english')).toMatchObject({ changed: 0 });
  });

  it('the command search rebuild waits for an import', async () => {
    const client = await catalogue().database.connect();
    let rebuilt: Promise<unknown>;
    try {
      await client.query("SELECT pg_advisory_lock(hashtextextended('import ' || current_schema(), 0))");
      let isDone = false;
      rebuilt = rebuild('french').finally(() => {
        isDone = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(isDone).toBe(false);
    } finally {
      client.release(true);
    }
    expect(await rebuilt).toMatchObject({ language: 'french' });
  });
});
