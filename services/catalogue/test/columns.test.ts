// Every column of products. A column that is added has to appear here: as a member that clients write, or with the
// reason for which they do not write it. The tests then find the places that do not know the member.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { createTestDatabase, startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { parse } from 'yaml';
import { exportProducts, importProducts } from '../src/operator/index.ts';
import { writtenColumns } from '../src/product/product-input.ts';
import { eventsAbout } from './outbox.ts';
import { staffToken } from './products.ts';

/** Column → its member in requests, a value of a new product, and another value. */
const written: Readonly<Record<string, { member: string; first: unknown; second: unknown }>> = {
  name: { member: 'name', first: 'Mug', second: 'Cup' },
  description: { member: 'description', first: 'Holds 0.4 l.', second: 'Holds 0.2 l.' },
  brand: { member: 'brand', first: 'Acme', second: 'Nordwick' },
  category: { member: 'category', first: 'kitchen', second: 'office' },
  price_minor: { member: 'price', first: 4.5, second: 5 },
  rating_tenths: { member: 'rating', first: 4.5, second: 3 },
  status: { member: 'status', first: 'active', second: 'backorder' },
  stock: { member: 'stock', first: 0, second: 7 },
  low_stock_threshold: { member: 'lowStockThreshold', first: 3, second: 4 },
  external_key: { member: 'sku', first: 'MUG-1', second: 'MUG-2' },
  images: { member: 'images', first: [{ url: 'https://images.example/1.jpg', alt: 'A mug' }], second: [] },
  attributes: { member: 'attributes', first: { colour: 'blue' }, second: { colour: 'red' } },
};

const notWritten: Readonly<Record<string, string>> = {
  id: 'is given by the shop',
  version: 'changes with every other column that clients see',
  created_at: 'is the time of the creation',
  updated_at: 'is the time of the last change of the version',
  reserved: 'counts units of reservations and orders',
  oversold: 'counts units of orders beyond the stock',
  allocated: 'counts units of orders that staff has begun to process',
  archived_status: 'is written by DELETE and by `archived` in a PATCH; archived products are not exported',
};

/** Members that customers do not see. */
const staffOnly = ['stock', 'sku', 'lowStockThreshold'];

/** Members that `product.created.v1` does not have: it says `inStock`, and `stock.low.v1` has the threshold. */
const notInEvents = ['stock', 'lowStockThreshold'];

/** Members that an import leaves as they are when a line does not have them. It removes all others. */
const keptByImports = ['status', 'stock', 'lowStockThreshold', 'images', 'attributes'];

/** Members of requests that are not columns. */
const otherMembers = ['currency', 'archived'];

let services: TestServices;
let client: TestClient;
let token: string;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  ({ client } = services.service('catalogue'));
  token = await staffToken(services);
});
afterAll(() => services.stop());

type Row = Readonly<Record<string, string | null>>;
const database = () => services.service('catalogue').database;
const columns = Object.entries(written);
const memberNames = columns.map(([, { member }]) => member).sort();
const firstValues = Object.fromEntries(columns.map(([, { member, first }]) => [member, first]));

async function create(sku: string): Promise<string> {
  const { status, body, text } = await client.post('/v1/products', { token, body: { ...firstValues, sku } });
  if (status !== 201) throw new Error(text);
  return body.id;
}

describe('a column of products', () => {
  it('is a member that clients write, or stands here with a reason', async () => {
    const { rows } = await database().query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = 'products'`,
    );
    const known = [...Object.keys(written), ...Object.keys(notWritten)];
    expect(rows.map(({ name }) => name).sort()).toEqual(known.sort());
    expect([...writtenColumns].sort()).toEqual(Object.keys(written).sort());
  });

  it.each(['NewProduct', 'ProductPatch'])('is described in the contract, in %s', async (schema) => {
    const text = await readFile(new URL('../openapi.yaml', import.meta.url), 'utf8');
    const { properties } = parse(text).components.schemas[schema] as { properties: object };
    expect(
      Object.keys(properties)
        .filter((name) => !otherMembers.includes(name))
        .sort(),
    ).toEqual(memberNames);
  });

  it.each(columns)(
    '%s is written, shown, and changes the entity tag and the version',
    async (column, { member, second }) => {
      const id = await create(`TAG ${column}`);
      const path = `/v1/products/${id}`;
      const before = await client.get(path, { token });
      const value = member === 'stock' ? { set: second, expected: 0 } : second;
      const changed = await client.patch(path, { token, body: { [member]: value } });
      expect(changed.status).toBe(200);
      const after = await client.get(path, { token });
      const shown = after.body[member];
      const differing = memberNames.filter((name) => !isDeepStrictEqual(before.body[name], after.body[name]));
      expect(differing).toEqual([member]);
      if (member === 'stock') expect(shown).toMatchObject({ onHand: second });
      else expect(shown ?? []).toEqual(second);
      expect(changed.headers.etag).not.toBe(before.headers.etag);
      const { rows } = await database().query('SELECT version::int FROM products WHERE id = $1', [id]);
      expect(rows).toEqual([{ version: 2 }]);
    },
  );

  it.each(columns)('%s is in lists, searches and events, for those who see it', async (column, { member, first }) => {
    const id = await create(`LIST ${column}`);
    const one = (await client.get(`/v1/products/${id}`, { token })).body[member];
    const item = { [member]: one };
    const listed = await client.get(`/v1/products?id=${id}&fields=${member}`, { token });
    expect(listed.body.items).toEqual([item]);
    const body = { filters: { id: { eq: id } }, fields: [member] };
    expect((await client.post('/v1/products/search', { token, body })).body.items).toEqual([item]);
    const forCustomers = (await client.get(`/v1/products/${id}`)).body;
    expect(member in forCustomers).toBe(!staffOnly.includes(member));
    const [created] = await eventsAbout(services, id);
    const value = member === 'sku' ? `LIST ${column}` : first;
    expect(created?.data[member]).toEqual(notInEvents.includes(member) ? undefined : value);
  });

  it('is removed by null in a PATCH when it can be NULL', async () => {
    const { rows } = await database().query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = 'products' AND is_nullable = 'YES'`,
    );
    const optional = rows.flatMap(({ name }) => written[name]?.member ?? []);
    const id = await create('NULL');
    const body = Object.fromEntries(optional.map((member) => [member, null]));
    expect(await client.patch(`/v1/products/${id}`, { token, body })).toMatchObject({ status: 200 });
    const { body: after } = await client.get(`/v1/products/${id}`, { token });
    expect(optional.filter((member) => member in after)).toEqual([]);
  });

  it('is kept or removed by an import without it', async () => {
    const id = await create('KEPT');
    const { body: before } = await client.get(`/v1/products/${id}`, { token });
    const folder = await mkdtemp(join(tmpdir(), 'shop-columns-'));
    try {
      const path = join(folder, 'products.ndjson');
      const { name, brand, category, price } = firstValues;
      await writeFile(path, JSON.stringify({ externalKey: 'KEPT', name, brand, category, price }));
      await importProducts({ DATABASE_URL: services.database.urls.catalogue }, { path, refused: join(folder, 'no') });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const { body: after } = await client.get(`/v1/products/${id}`, { token });
    const given = ['name', 'brand', 'category', 'price', 'sku'];
    const expected = [...given, ...keptByImports].sort();
    expect(memberNames.filter((member) => member in after)).toEqual(expected);
    for (const member of expected) expect([member, after[member]]).toEqual([member, before[member]]);
  });

  it.each(['csv', 'ndjson'])('travels through an export as %s and an import into another shop', async (format) => {
    await create(`TRAVEL ${format}`);
    const list = writtenColumns.map((column) => `${column}::text`).join();
    const select = `SELECT ${list} FROM products WHERE external_key = 'TRAVEL ${format}'`;
    const rowsOf = (url: string) =>
      withClient({ url }, async (connection) => (await connection.query<Row>(select)).rows);
    const rows = await rowsOf(services.database.urls.catalogue);
    const row = rows[0] ?? {};
    expect(writtenColumns.filter((column) => (row[column] ?? null) === null)).toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), 'shop-columns-'));
    const other = await createTestDatabase(['catalogue']);
    try {
      const path = join(folder, `products.${format}`);
      await exportProducts({ DATABASE_URL: services.database.urls.catalogue }, { path });
      await importProducts({ DATABASE_URL: other.urls.catalogue }, { path, refused: join(folder, 'refused') });
      expect(await rowsOf(other.urls.catalogue)).toEqual(rows);
    } finally {
      await other.drop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
