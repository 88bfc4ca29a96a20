// The tests of searches on a database with the locale C, which knows the capital letters of ASCII only.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { knownMigrations, migrate, withClient } from '@shop/shared/database';
import { createTestDatabase, serviceFolder, type TestDatabase, useLocale } from '@shop/shared/testing';

useLocale('C');
await import('./find-products.test.ts');
await import('./search-spellings.test.ts');

/** The first migration that does not depend on the locale of the database, and the one that replaces the former words. */
const [first, replacing] = ['0056_search_letters.sql', '0058_search_rebuilt.sql'];
const folder = `${serviceFolder('catalogue')}/migrations`;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase([]);
});
afterAll(() => database.drop());

it('a search finds the products of a shop whose words were stored before, after its migrations are applied', async () => {
  const url = database.urls.catalogue;
  const all = await knownMigrations(folder);
  await migrate({ url, folder, only: all.slice(0, all.indexOf(first)) });
  const insert = `INSERT INTO products (id, name, brand, category, price_minor, status)
    VALUES (gen_random_uuid(), $1, 'ÉMILE', 'Kitchen', 100, 'active')`;
  const find = "SELECT count(*)::int AS found FROM product_search WHERE lexemes @@ 'ubergang & emil'";
  const findWord = "SELECT count(*)::int AS found FROM search_words WHERE word = 'ubergang'";
  await withClient({ url }, async (client) => {
    const count = async (text: string) => (await client.query<{ found: number }>(text)).rows[0]?.found;
    await client.query(insert, ['ÜBERGANG']);
    await client.query(insert, ['DELETED ÜBERGANG']);
    expect(await count(find)).toBe(0);
    await migrate({ url, folder, only: all.slice(0, all.indexOf(replacing)) });
    // Processes write while the migrations are applied.
    await client.query(insert, ['Column']);
    await client.query("UPDATE products SET name = 'ÜBERGANG 2' WHERE name = 'Column'");
    await client.query("DELETE FROM products WHERE name = 'DELETED ÜBERGANG'");
    await migrate({ url, folder });
    expect(await count(`${find} AND product_id NOT IN (SELECT id FROM products)`)).toBe(0);
    expect(await count(find)).toBe(2);
    await client.query(insert, ['Column']);
    await client.query("UPDATE products SET name = 'ÜBERGANG' WHERE name = 'Column'");
    expect(await count(find)).toBe(3);
    expect(await count(findWord)).toBe(1);
  });
});
