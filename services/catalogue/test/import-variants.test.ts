// Imports and exports of variants.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
  [inventory, folder] = await Promise.all([startInventory(), mkdtemp(join(tmpdir(), 'shop-variants-'))]);
  url = inventory.services.database.urls.catalogue;
});
afterAll(async () => {
  await inventory.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await database().query('TRUNCATE products CASCADE');
});

const database = () => inventory.services.service('catalogue').database;
const line = (externalKey: string, variant?: object, more = {}) => {
  return { externalKey, name: 'Shirt', brand: 'Acme', category: 'clothes', price: 20, variant, ...more };
};
const of = (group: string, size: string, more = {}) => ({ group, options: { size }, ...more });

async function bring(lines: readonly object[], databaseUrl = url): Promise<ImportResult> {
  const path = join(folder, 'products.ndjson');
  await writeFile(path, lines.map((each) => JSON.stringify(each)).join('\n'));
  return importProducts({ DATABASE_URL: databaseUrl }, { path, refused: join(folder, 'refused') });
}
async function refusals(): Promise<{ line: number; reasons: string[] }[]> {
  const text = await readFile(join(folder, 'refused'), 'utf8');
  return text.split('\n').flatMap((each) => (each === '' ? [] : JSON.parse(each)));
}

/** Each product as its key, group, size, and `lead` if it is the lead. */
async function products(): Promise<string[]> {
  const { rows } = await database().query<{ text: string }>(
    `SELECT concat_ws(' ', external_key, variant_group, variant::json -> 'options' ->> 'size',
       CASE WHEN is_lead THEN 'lead' END) AS text
     FROM products ORDER BY external_key`,
  );
  return rows.map(({ text }) => text);
}

describe('an import', () => {
  it('an import creates the products of groups in any order, the first line of a group as its lead', async () => {
    const lines = [line('C', of('T', 'L')), line('A', of('T', 'S')), line('X'), line('B', of('U', 'S'))];
    expect(await bring(lines)).toMatchObject({ created: 4, refused: 0 });
    expect(await products()).toEqual(['A T S', 'B U S lead', 'C T L lead', 'X lead']);
    expect(await bring(lines)).toMatchObject({ unchanged: 4 });
  });

  it('an import exchanges the options of two products, and gives a new product those that another one gives up', async () => {
    await bring([line('A', of('T', 'S')), line('B', of('T', 'M')), line('C', of('T', 'L'))]);
    const changed = [
      line('D', of('T', 'L')),
      line('A', of('T', 'M')),
      line('B', of('T', 'S')),
      line('C', of('U', 'L')),
    ];
    expect(await bring(changed)).toMatchObject({ created: 1, changed: 3, refused: 0 });
    expect(await products()).toEqual(['A T M lead', 'B T S', 'C U L lead', 'D T L']);
  });

  it('an import marks the lead, and keeps the variants of products whose lines have none', async () => {
    await bring([line('A', of('T', 'S')), line('B', of('T', 'M'))]);
    await bring([line('B', of('T', 'M', { lead: true })), line('A', undefined, { price: 21 })]);
    expect(await products()).toEqual(['A T S', 'B T M lead']);
  });

  it('an import refuses lines with options that another product keeps, or that an earlier line has', async () => {
    await bring([line('A', of('T', 'S')), line('B', of('T', 'M'))]);
    const { rows } = await database().query('SELECT id FROM products ORDER BY external_key');
    const lines = [
      line('C', of('T', 'S'), { price: 1 }),
      line('D', of('T', 'L')),
      line('E', of('T', 'L')),
      // Cannot get the options of A, so B keeps its own ones, which F wants.
      line('B', of('T', 'S')),
      line('F', of('T', 'M')),
    ];
    expect(await bring(lines)).toMatchObject({ created: 1, changed: 0, refused: 4 });
    const [a, b] = rows.map(({ id }) => `variant has the group and the options of the product ${id}`);
    expect((await refusals()).map((each) => [each.line, ...each.reasons])).toEqual([
      [1, a],
      [3, expect.stringContaining('variant has the group')],
      [4, a],
      [5, b],
    ]);
    expect(await products()).toEqual(['A T S lead', 'B T M', 'D T L']);
  });

  it('an import refuses a line with a variant that is not valid', async () => {
    expect(await bring([line('A', { group: 'T' }), line('B', of('T', ''))])).toMatchObject({ refused: 2 });
    expect((await refusals()).map(({ reasons }) => reasons)).toEqual([
      ['variant/options is required'],
      ['variant/options/size must not have fewer than 1 character'],
    ]);
  });

  it('an import and requests that change the same groups at the same time leave one lead in each', async () => {
    const groups = ['T', 'U', 'V'];
    const lines = groups.flatMap((group) =>
      Array.from({ length: 20 }, (_, size) => line(`${group}${size}`, of(group, `${size}`))),
    );
    await bring(lines);
    const { rows } = await database().query<{ id: string }>('SELECT id FROM products');
    const token = await inventory.services.issuer.sign({ scopes: ['catalogue:write'] });
    const { client } = inventory.services.service('catalogue');
    const moved = lines.map((each, index) => ({
      ...each,
      price: 30,
      variant: of(groups[index % 3] ?? '', each.externalKey),
    }));
    const [result, ...answers] = await Promise.all([
      bring(moved),
      ...rows.map(({ id }) => client.call('DELETE', `/v1/products/${id}`, { token })),
    ]);
    expect(result).toMatchObject({ changed: 60, refused: 0 });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    const leads = await database().query(
      'SELECT count(*)::int AS leads FROM products WHERE is_lead GROUP BY variant_group',
    );
    expect(leads.rows).toEqual([{ leads: 1 }, { leads: 1 }, { leads: 1 }]);
  });
});

describe('an export', () => {
  it.each(['csv', 'ndjson'])('an export as %s has the variants, also for another shop', async (format) => {
    const odd = { group: 'a "b", c', options: { size: '42,5', colour: '"red"' }, lead: true };
    await bring([line('A', of('T', 'S')), line('B', of('T', 'M', { lead: true })), line('C', odd), line('D')]);
    const path = join(folder, `products.${format}`);
    const before = await products();
    expect(await exportProducts({ DATABASE_URL: url }, { path })).toBe(4);
    const other = await createTestDatabase(['catalogue']);
    try {
      const refused = join(folder, 'refused');
      expect(await importProducts({ DATABASE_URL: url }, { path, refused })).toMatchObject({ unchanged: 4 });
      const elsewhere = { DATABASE_URL: other.urls.catalogue };
      expect(await importProducts(elsewhere, { path, refused })).toMatchObject({ created: 4, refused: 0 });
      const again = join(folder, `again.${format}`);
      await exportProducts(elsewhere, { path: again });
      expect(await readFile(again, 'utf8')).toBe(await readFile(path, 'utf8'));
    } finally {
      await other.drop();
    }
    expect(await products()).toEqual(before);
  });
});
