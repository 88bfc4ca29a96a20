// The import of a file: new, changed and equal products, every refusal, and an interruption.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, lockWaits } from '@shop/shared/testing';
import { type ImportResult, importProducts } from '../src/operator/index.ts';
import { killImport } from './import-process.ts';
import { type Inventory, startInventory } from './inventory.ts';
import { staffToken } from './products.ts';
import { readReport } from './refusal-report.ts';

let inventory: Inventory;
let folder: string;
let url: string;
let report: string;

beforeAll(async () => {
  [inventory, folder] = await Promise.all([startInventory(), mkdtemp(join(tmpdir(), 'shop-import-'))]);
  url = inventory.services.database.urls.catalogue;
  report = join(folder, 'refused');
});
afterAll(async () => {
  await inventory.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await query('TRUNCATE products, reservations, product_imports, import_keys CASCADE');
});

const query = (text: string, values: unknown[] = []) =>
  inventory.services.service('catalogue').database.query(text, values);
const bring = async (
  path: string,
  refused = report,
  { currency = 'EUR', replace = false } = {},
): Promise<ImportResult> => {
  await query('DELETE FROM shop_currency');
  return importProducts({ DATABASE_URL: url, SHOP_CURRENCY: currency }, { path, refused, replace });
};

async function given(name: string, ...lines: (string | object)[]): Promise<string> {
  const path = join(folder, name);
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(path, `${text.join('\n')}\n`);
  return path;
}

async function importLines(...lines: (string | object)[]): Promise<ImportResult> {
  return bring(await given('lines.ndjson', ...lines));
}

const cup = { externalKey: 'CUP', name: 'Cup', brand: 'Acme', category: 'kitchen', price: 4.5 };
const counts = (created: number, changed: number, unchanged: number, refused: number) => ({
  resumedAfterLine: 0,
  created,
  changed,
  unchanged,
  refused,
});
const product = async (key: string) => (await query('SELECT * FROM products WHERE external_key = $1', [key])).rows[0];

describe('a line', () => {
  it('a line creates a product, with its stock in the ledger, and the API shows it', async () => {
    expect(await importLines({ ...cup, stock: 7, rating: 4.5, description: 'Holds tea' })).toEqual(counts(1, 0, 0, 0));
    const { id } = await product('CUP');
    const answer = await inventory.services.service('catalogue').client.get(`/v1/products/${id}`);
    const { externalKey: _key, ...visible } = cup;
    expect(answer.body).toMatchObject({ ...visible, rating: 4.5, status: 'available', inStock: true });
    expect(await inventory.book(id)).toBe('received 7');
  });

  it('the key of an import line can be the id of a product in capital letters', async () => {
    await importLines(cup);
    const { id } = await product('CUP');
    const line = { ...cup, externalKey: id.toUpperCase(), name: 'Mug' };
    expect(await importLines(line, { ...line, externalKey: id })).toEqual(counts(0, 1, 1, 0));
    expect(await product('CUP')).toMatchObject({ id, name: 'Mug' });
  });

  it('a line changes the product with its key, keeps absent members, and records the difference of the stock', async () => {
    await importLines({ ...cup, stock: 7, status: 'active', description: 'Holds tea', lowStockThreshold: 2 });
    expect(await importLines({ ...cup, stock: 4 })).toEqual(counts(0, 1, 0, 0));
    expect(await product('CUP')).toMatchObject({
      ...{ stock: 4, status: 'active', low_stock_threshold: 2 },
      ...{ description: null, version: 2 },
    });
    expect(await importLines({ ...cup, price: 5 })).toEqual(counts(0, 1, 0, 0));
    const { id } = await product('CUP');
    expect(await inventory.figures(id)).toBe('4/0/0');
    expect(await inventory.book(id)).toBe('received 7, received -3');
  });

  it('a line changes nothing when the product is equal', async () => {
    await importLines({ ...cup, stock: 7, lowStockThreshold: 0 });
    expect(await importLines({ ...cup, stock: 7, lowStockThreshold: 0 })).toEqual(counts(0, 0, 1, 0));
    expect(await product('CUP')).toMatchObject({ version: 1 });
    expect(await importLines({ ...cup, lowStockThreshold: 9 })).toEqual(counts(0, 1, 0, 0));
    expect(await product('CUP')).toMatchObject({ version: 3, low_stock_threshold: 9 });
  });

  it('a line changes a product that was created over the API, found by its id', async () => {
    const id = await inventory.product(3);
    expect(await importLines({ ...cup, externalKey: id, stock: 5 })).toEqual(counts(0, 1, 0, 0));
    expect(await inventory.book(id)).toBe('received 3, received 2');
    expect((await query('SELECT name, external_key FROM products')).rows).toEqual([
      { name: 'Cup', external_key: null },
    ]);
  });

  it('a line changes a product with a key by its id too, and the product keeps its key', async () => {
    const id = await inventory.product(3);
    await query("UPDATE products SET external_key = 'CUP' WHERE id = $1", [id]);
    expect(await importLines({ ...cup, externalKey: id, stock: 5 })).toEqual(counts(0, 1, 0, 0));
    expect((await query('SELECT name, external_key, stock FROM products')).rows).toEqual([
      { name: 'Cup', external_key: 'CUP', stock: 5 },
    ]);
    expect(await importLines({ ...cup, stock: 5 })).toEqual(counts(0, 0, 1, 0));
  });

  it('a line is overwritten by a later line about the same product under its other key', async () => {
    const id = await inventory.product(3);
    await query("UPDATE products SET external_key = 'CUP' WHERE id = $1", [id]);
    const [byId, byKey] = [{ ...cup, externalKey: id }, cup];
    const lid = { ...cup, externalKey: 'LID', stock: 1 };
    expect(await importLines({ ...byId, price: 1 }, lid, { ...byKey, price: 2, stock: 4 })).toEqual(counts(1, 2, 0, 0));
    expect(await product('CUP')).toMatchObject({ id, price_minor: 200, version: 4 });
    expect(await importLines({ ...byKey, price: 3 }, { ...byId, price: 4 })).toEqual(counts(0, 2, 0, 0));
    expect(await product('CUP')).toMatchObject({ price_minor: 400 });
    expect(await inventory.book(id)).toBe('received 3, received 1');
    expect(await inventory.verify()).toMatchObject({ faults: [] });
  });

  it('a line changes the product with the key when the key is also the id of another product', async () => {
    const [id, other] = [await inventory.product(1), await inventory.product(1)];
    await query('UPDATE products SET external_key = $2 WHERE id = $1', [other, id]);
    expect(await importLines({ ...cup, externalKey: id, description: 'New' })).toEqual(counts(0, 1, 0, 0));
    expect((await query("SELECT id FROM products WHERE description = 'New'")).rows).toEqual([{ id: other }]);
  });

  it('a line with the key of an earlier line is rejected, with the numbers of both', async () => {
    const others = Array.from({ length: 1_100 }, (_, index) => ({ ...cup, externalKey: `K-${index}` }));
    const lines = [{ ...cup, price: -1 }, { ...cup, price: 1 }, { ...cup, price: 2 }, ...others, cup];
    expect(await importLines(...lines)).toEqual(counts(1_101, 0, 0, 3));
    expect(await product('CUP')).toMatchObject({ price_minor: 100 });
    const reasons = ['externalKey is also in line 2: a file has each key once'];
    expect((await readReport(report))?.slice(1)).toEqual([
      { line: 3, externalKey: 'CUP', code: 'invalid-request', reasons },
      { line: 1_104, externalKey: 'CUP', code: 'invalid-request', reasons },
    ]);
    expect(await importLines(cup)).toEqual(counts(0, 1, 0, 0));
  });

  it('new stock in a line is assigned to waiting back orders first', async () => {
    const id = await inventory.product(1, 'backorder');
    await inventory.reserve(newId(), { [id]: 3 });
    expect(await inventory.figures(id)).toBe('1/1/2');
    await importLines({ ...cup, externalKey: id, stock: 2 });
    expect(await inventory.figures(id)).toBe('2/2/1');
    expect(await inventory.verify()).toMatchObject({ faults: [] });
  });
});

describe('a refused line', () => {
  it('a rejected line is reported with every fault that the API would report, and the other lines are imported', async () => {
    const wrong = {
      externalKey: 'X',
      brand: ' ',
      category: 'c',
      price: 1.999,
      currency: 'USD',
      rating: 6,
      color: 'red',
    };
    const keyless = '{"name":"A\\u0000","brand":"b","category":"c","price":-1}';
    const run = await importLines(
      cup,
      wrong,
      '',
      '{"externalKey":',
      '[]',
      { ...cup, externalKey: ' ', stock: -1 },
      keyless,
    );
    expect(run).toEqual(counts(1, 0, 0, 5));
    expect(await readReport(report)).toEqual([
      {
        line: 2,
        externalKey: 'X',
        code: 'invalid-request',
        reasons: expect.arrayContaining([
          'name is required',
          'brand must not be blank',
          'rating must be <= 5',
          'color is not a known member',
          'price must be a number with at most 13 digits before the point and 2 after it, such as 9.50',
          'currency must be EUR: all prices of this shop are',
        ]),
      },
      { line: 4, code: 'invalid-request', reasons: ['is not valid JSON at line 1, column 16: a value is expected'] },
      { line: 5, code: 'invalid-request', reasons: ['must be a JSON object'] },
      {
        line: 6,
        externalKey: ' ',
        code: 'invalid-request',
        reasons: ['externalKey must not be blank', 'stock must be >= 0'],
      },
      {
        line: 7,
        code: 'invalid-request',
        reasons: [expect.stringMatching(/^name /), 'externalKey is required', 'price must be >= 0'],
      },
    ]);
    const { externalKey: _key, ...body } = wrong;
    const answer = await inventory.services
      .service('catalogue')
      .client.post('/v1/products', { token: await staffToken(inventory.services), body });
    const apiReasons = answer.body.errors.map(({ pointer, detail }) => {
      return `${pointer.slice(1)} ${detail}`;
    });
    expect((await readReport(report))?.[0]?.reasons).toEqual(expect.arrayContaining(apiReasons));
  });

  it('no report is written when no line was rejected', async () => {
    await importLines('{');
    expect(await readReport(report)).toHaveLength(1);
    await importLines(cup);
    expect(await readReport(report)).toBeUndefined();
  });

  it('a line with a stock below the reserved units is rejected', async () => {
    const id = await inventory.product(5);
    await inventory.reserve(newId(), { [id]: 3 });
    expect(await importLines({ ...cup, externalKey: id, stock: 2 })).toEqual(counts(0, 0, 0, 1));
    expect((await readReport(report))?.[0]).toMatchObject({
      line: 1,
      code: 'insufficient-stock',
      reasons: [expect.stringContaining('the 3 that')],
    });
    expect(await inventory.figures(id)).toBe('5/3/0');
  });
});

describe('CSV', () => {
  const heading = 'externalKey,name,brand,category,price,stock,description';
  const noPrice = 'price must be a number with at most 13 digits before the point and 2 after it, such as 9.50';

  it('a CSV file may have quoted cells over several lines, and is reported by line numbers', async () => {
    const path = await given(
      'some.CSV',
      `\uFEFF${heading}`,
      'A,"Pan ""large"", black",Acme,kitchen,19.90,3,"two',
      'lines"',
      'B,Pan,Acme,kitchen,dear,1.5,',
      '',
      'C,Pan,Acme,kitchen',
      'D,Pa"n,Acme,kitchen,1,,',
      'E,Lid,Acme,kitchen,3,,',
      'F,Lid,Acme,kitchen,19.990000000000000001,,',
    );
    expect(await bring(path)).toEqual(counts(2, 0, 0, 4));
    expect(await product('A')).toMatchObject({ name: 'Pan "large", black', description: 'two\nlines', stock: 3 });
    expect(await product('E')).toMatchObject({ name: 'Lid', description: null, price_minor: 300 });
    expect(await readReport(report)).toEqual([
      {
        line: 4,
        externalKey: 'B',
        code: 'invalid-request',
        reasons: [noPrice, 'stock must be a whole number of at most 15 digits'],
      },
      { line: 6, code: 'invalid-request', reasons: ['must have 7 cells, not 4'] },
      { line: 7, code: 'invalid-request', reasons: [expect.stringContaining('has a quote in the wrong place')] },
      { line: 9, externalKey: 'F', code: 'invalid-request', reasons: [noPrice] },
    ]);
  });

  it.each([
    [
      'EUR',
      ['1.500', '12.000', '1,50', '1 500', ' 1', '1e3', '+1', '01', '1.', '.5', '1_0', "1'500", '0x1', '１'],
      ['1.5'],
    ],
    ['VND', ['12.000', '12,000', '1.5', '1.0'], ['25000000']],
    ['KWD', ['1.5000', '1,500.000'], ['1.500']],
  ])(
    'a CSV file contains prices in the notation of a query, and in %s rejects %j',
    async (currency, refused, accepted) => {
      const lines = [...refused, ...accepted].map((price, index) => `${currency}-${index},Pan,Acme,kitchen,"${price}"`);
      const path = await given('prices.csv', 'externalKey,name,brand,category,price', ...lines);
      expect(await bring(path, report, { currency })).toEqual(counts(accepted.length, 0, 0, refused.length));
    },
  );

  it('a CSV file lists every fault of a line', async () => {
    const path = await given('faults.csv', heading, 'A,,Acme,kitchen,1.500,-0,');
    expect(await bring(path)).toEqual(counts(0, 0, 0, 1));
    expect((await readReport(report))?.[0]).toMatchObject({
      externalKey: 'A',
      reasons: [noPrice, 'name is required'],
    });
  });

  it('a CSV file leaves members unchanged whose columns it lacks, and creates no product without the required ones', async () => {
    await importLines({ ...cup, description: 'Holds tea', rating: 4, stock: 3, status: 'active', images: [] });
    const before = await product('CUP');
    const path = await given('prices.csv', 'externalKey,price', 'CUP,5', 'NEW,6');
    expect(await bring(path)).toEqual(counts(0, 1, 0, 1));
    const { version, updated_at, price_minor, ...others } = await product('CUP');
    expect({ version, price_minor }).toEqual({ version: 2, price_minor: 500 });
    expect(before).toMatchObject(others);
    expect(await readReport(report)).toEqual([
      {
        line: 3,
        externalKey: 'NEW',
        code: 'invalid-request',
        reasons: ['name is required', 'brand is required', 'category is required'],
      },
    ]);
    expect(await bring(await given('names.csv', 'name,externalKey', 'Mug,CUP'))).toEqual(counts(0, 1, 0, 0));
    expect(await product('CUP')).toMatchObject({ ...others, price_minor: 500, name: 'Mug' });
    expect(await bring(await given('empty.csv', 'externalKey,description', 'CUP,'))).toEqual(counts(0, 1, 0, 0));
    expect(await product('CUP')).toMatchObject({ description: null, rating_tenths: 40 });
  });

  it('a CSV file without the column of keys is rejected with that reason', async () => {
    expect(await bring(await given('keyless.csv', 'name,price', 'Cup,5'))).toEqual(counts(0, 0, 0, 1));
    expect((await readReport(report))?.[0]?.reasons).toContain('externalKey is required');
  });

  it('a CSV file removes the members whose columns it lacks with --replace, and keeps those that every import keeps', async () => {
    const kept = { stock: 3, status: 'active', lowStockThreshold: 1, attributes: { colour: 'red' } };
    await importLines({ ...cup, description: 'Holds tea', rating: 4, ...kept });
    const path = await given('replace.csv', 'externalKey,name,brand,category,price', 'CUP,Cup,Acme,kitchen,5');
    expect(await bring(path, report, { replace: true })).toEqual(counts(0, 1, 0, 0));
    expect(await product('CUP')).toMatchObject({
      ...{ price_minor: 500, description: null, rating_tenths: null },
      ...{ stock: 3, status: 'active', low_stock_threshold: 1, attributes: '{"colour":"red"}' },
    });
    const prices = await given('prices.csv', 'externalKey,price', 'CUP,6');
    expect(await bring(prices, report, { replace: true })).toEqual(counts(0, 0, 0, 1));
  });

  it('a CSV file in another encoding is rejected, each line alone', async () => {
    const path = await given('latin.csv', heading);
    await writeFile(path, Buffer.from(`${heading}\nA,Käse,Acme,food,1,,\nB,Brot,Acme,food,1,,\n`, 'latin1'));
    expect(await bring(path)).toEqual(counts(1, 0, 0, 1));
    expect((await readReport(report))?.[0]?.reasons).toEqual([
      'name is not valid UTF-8: save the file in that encoding',
    ]);
  });

  it.each([
    ['externalKey,name,colour', /the first line must name the columns, .*; not "colour"/],
    ['name,name', /not "name"/],
    [`${heading}\nA,"Pan,Acme,kitchen,1,,`, /from line 2 on this is no CSV: a quote is not closed/],
    [`${heading}\nA,"Pa"n,Acme,kitchen,1,,`, /from line 2 on this is no CSV: has a quote in the wrong place/],
  ])('a CSV file that is invalid is rejected as a whole: %j', async (text, complaint) => {
    await expect(bring(await given('wrong.csv', text))).rejects.toThrow(complaint);
  });
});

describe('an import', () => {
  it('an import continues after its process was killed, and imports each line exactly once', async () => {
    const lines = Array.from({ length: 12_000 }, (_, index) =>
      index % 100 === 7 ? '{"externalKey":"wrong"}' : { ...cup, externalKey: `K-${index}`, stock: 2 },
    );
    const path = await given('many.ndjson', ...lines);
    expect(await killImport(url, path, report)).toBe('SIGKILL');
    const there = (await query('SELECT count(*)::int AS n FROM products')).rows[0].n;
    expect(there).toBeGreaterThan(0);
    expect(there).toBeLessThan(11_880);

    const result = await bring(path);
    expect(result).toEqual({
      resumedAfterLine: expect.any(Number),
      created: 11_880,
      changed: 0,
      unchanged: 0,
      refused: 120,
    });
    expect(result.resumedAfterLine).toBeGreaterThanOrEqual(there);
    const refused = (await readReport(report))?.map(({ line }) => line);
    expect(refused).toEqual(Array.from({ length: 120 }, (_, index) => index * 100 + 8));
    const { rows } = await query('SELECT count(*)::int AS n, sum(quantity)::int AS sum FROM stock_ledger');
    expect(rows).toEqual([{ n: 11_880, sum: 23_760 }]);
    // The import has ended, so the next import of the same file starts at the beginning.
    expect(await bring(path)).toMatchObject({ resumedAfterLine: 0, unchanged: 11_880, refused: 120 });
  });

  it('an import is rejected when its report would replace the file', async () => {
    const path = await given('mine.ndjson', cup);
    const link = join(folder, 'link');
    await symlink(path, link);
    for (const place of [path, link]) {
      await expect(bring(path, place)).rejects.toThrow(/ --refused$/);
    }
    expect(await bring(path)).toEqual(counts(1, 0, 0, 0));
  });

  it('an import changes a product that gets one of its keys while the import runs', async () => {
    const id = await inventory.product(3);
    const client = await inventory.services.service('catalogue').database.connect();
    try {
      await client.query('BEGIN');
      await client.query("UPDATE products SET external_key = 'CUP' WHERE id = $1", [id]);
      const imported = importLines({ externalKey: 'WRONG' }, { ...cup, externalKey: 'LID' }, { ...cup, price: 9 });
      await eventually(async () => expect(await lockWaits(inventory.services.service('catalogue').database)).toBe(1));
      await client.query('COMMIT');
      expect(await imported).toEqual(counts(1, 1, 0, 1));
    } finally {
      client.release(true);
    }
    expect(await product('CUP')).toMatchObject({ id, price_minor: 900 });
    expect(await readReport(report)).toMatchObject([{ line: 1, externalKey: 'WRONG' }]);
    expect(await inventory.verify()).toMatchObject({ faults: [] });
  });

  it('an import is rejected while another import runs', async () => {
    const client = await inventory.services.service('catalogue').database.connect();
    try {
      await client.query("SELECT pg_advisory_lock(hashtextextended('import ' || current_schema(), 0))");
      await expect(importLines(cup)).rejects.toThrow('another import is');
    } finally {
      client.release(true);
    }
    expect(await importLines(cup)).toEqual(counts(1, 0, 0, 0));
  });

  it.each([
    ['none.csv', /cannot read .*none\.csv \(ENOENT\)/],
    ['none.xlsx', /the name of .* must end in \.csv or \.ndjson/],
  ])('an import of %s names the fault', async (name, complaint) => {
    await expect(bring(join(folder, name))).rejects.toThrow(complaint);
  });
});
