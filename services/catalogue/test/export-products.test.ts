// The export of products: an import accepts the file, with any texts in it.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase } from '@shop/shared/testing';
import { exportProducts, type ImportResult, importProducts } from '../src/operator/index.ts';
import { type Inventory, startInventory } from './inventory.ts';

let inventory: Inventory;
let folder: string;
let url: string;

beforeAll(async () => {
  [inventory, folder] = await Promise.all([startInventory(), mkdtemp(join(tmpdir(), 'shop-export-'))]);
  url = inventory.services.database.urls.catalogue;
});
afterAll(async () => {
  await inventory.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await inventory.services.service('catalogue').database.query('TRUNCATE products CASCADE');
});

const bring = (path: string, databaseUrl = url): Promise<ImportResult> =>
  importProducts({ DATABASE_URL: databaseUrl }, { path, refused: join(folder, 'refused') });

const cup = { externalKey: 'CUP', name: 'Cup', brand: 'Acme', category: 'kitchen', price: 4.5 };
const counts = (created: number, unchanged: number) => ({
  resumedAfterLine: 0,
  created,
  changed: 0,
  unchanged,
  refused: 0,
});

describe('an export', () => {
  it.each(['csv', 'ndjson'])(
    'an export as %s can be imported again, in this shop and in another one',
    async (format) => {
      const odd = {
        ...cup,
        externalKey: 'ODD, "1"',
        name: ' a "b", c ',
        description: 'two\nlines\r\nand, more',
        price: 0,
      };
      const images = [{ url: 'https://images.example/a,b.jpg', alt: 'A "cup"' }];
      const attributes = { colour: 'blue, light', litres: 0.25 };
      const plain = { ...cup, images, attributes, stock: 3, rating: 0, status: 'pending', lowStockThreshold: 0 };
      const lines = [odd, plain, { ...cup, externalKey: '007', price: 0.1 }];
      await writeFile(join(folder, 'given.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'));
      await bring(join(folder, 'given.ndjson'));
      const own = await inventory.product(2);
      const [first, second] = [join(folder, `first.${format}`), join(folder, `second.${format}`)];
      expect(await exportProducts({ DATABASE_URL: url }, { path: first })).toBe(4);
      expect(await bring(first)).toEqual(counts(0, 4));

      const other = await createTestDatabase(['catalogue']);
      try {
        const there = other.urls.catalogue;
        expect(await bring(first, there)).toEqual(counts(4, 0));
        await exportProducts({ DATABASE_URL: there }, { path: second });
        expect(await readFile(second, 'utf8')).toBe(await readFile(first, 'utf8'));
        expect(await readFile(first, 'utf8')).toContain(own);
        expect(await inventory.verify(there)).toMatchObject({ faults: [] });
      } finally {
        await other.drop();
      }
    },
  );

  it.each(['csv', 'ndjson'])(
    'an import of an export as %s removes images and attributes that a product got later',
    async (format) => {
      const path = join(folder, `without.${format}`);
      const id = await inventory.product(2);
      await exportProducts({ DATABASE_URL: url }, { path });
      const { database } = inventory.services.service('catalogue');
      await database.query(
        `UPDATE products SET images = '[{"url":"https://a.example/","alt":""}]', attributes = '{"size":5}'`,
      );
      expect(await bring(path)).toMatchObject({ created: 0, changed: 1, refused: 0 });
      expect((await database.query('SELECT id, images, attributes FROM products')).rows).toEqual([
        { id, images: null, attributes: null },
      ]);
    },
  );

  it('an export is a file that only its owner can read, and so is the report of the rejected lines of an import', async () => {
    const [path, refused] = [join(folder, 'private.csv'), join(folder, 'private.ndjson')];
    await exportProducts({ DATABASE_URL: url }, { path });
    await writeFile(path, 'externalKey,name\nCUP,Cup\n', { mode: 0o600 });
    expect(await importProducts({ DATABASE_URL: url }, { path, refused })).toMatchObject({ refused: 1 });
    for (const file of [path, refused]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('an export leaves no file when it cannot write', async () => {
    await expect(exportProducts({ DATABASE_URL: url }, { path: join(folder, 'none', 'x.csv') })).rejects.toThrow(
      /cannot write .*x\.csv \(ENOENT\)/,
    );
  });
});
