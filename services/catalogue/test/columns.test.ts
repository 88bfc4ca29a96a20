// Every line of the table of product columns, in every operation, and every column of products.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { createTestDatabase, startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { exportProducts, type ImportResult, importProducts, listProductHistory } from '../src/operator/index.ts';
import { writtenColumns, writtenLines } from '../src/product/product-columns.ts';
import { eventsAbout } from './outbox.ts';
import { staffToken } from './products.ts';

/** Member → a value of a new product, and another value. */
const samples: Readonly<Record<string, readonly [first: unknown, second: unknown]>> = {
  name: ['Mug', 'Cup'],
  description: ['Holds 0.4 l.', 'Holds 0.2 l.'],
  price: [4.5, 5],
  rating: [4.5, 3],
  status: ['active', 'backorder'],
  stock: [0, 7],
  lowStockThreshold: [3, 4],
  sku: ['MUG-1', 'MUG-2'],
  images: [[{ url: 'https://images.example/1.jpg', alt: 'A mug' }], []],
  attributes: [{ colour: 'blue' }, { colour: 'red' }],
  weight: [0.35, 1.5],
  shipped: [true, false],
  variant: [{ options: { size: 'M' } }, { options: { size: 'L' } }],
};
/** Returns a value of the samples for the product with a sku, because no two products have the same sku or variant. */
function valueFor(member: string, value: unknown, sku: string): unknown {
  if (member === 'sku') return sku;
  return member === 'variant' ? { group: sku, ...(value as object) } : value;
}
/** Returns the first value of each member, for the product with a sku. */
function firstValuesOf(sku: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(lines.map(([member, { first }]) => [member, valueFor(member, first, sku)]));
}

const lines = writtenLines.map((line) => {
  const [first, second] = samples[line.member] ?? ['one', 'another'];
  return [line.member, { ...line, first, second }] as const;
});

const notWritten: Readonly<Record<string, string>> = {
  id: 'is given by the shop',
  version: 'changes with every other column that clients see',
  created_at: 'is the time of the creation',
  updated_at: 'is the time of the last change of the version',
  reserved: 'counts units of reservations and orders',
  oversold: 'counts units of orders beyond the stock',
  allocated: 'counts units of orders that staff has begun to process',
  variant_group: 'is the group of `variant`',
  variant_key: 'is a digest of the group and the options of `variant`',
  is_lead: 'is chosen by the database',
  archived_status: 'is written by DELETE and by `archived` in a PATCH; archived products are not exported',
};

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
const memberNames = lines.map(([member]) => member).sort();

async function create(sku: string, more: object = {}): Promise<string> {
  const { status, body, text } = await client.post('/v1/products', { token, body: { ...firstValuesOf(sku), ...more } });
  if (status !== 201) throw new Error(text);
  return body.id;
}

async function importLines(products: readonly object[]): Promise<ImportResult> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-columns-'));
  try {
    const path = join(folder, 'products.ndjson');
    await writeFile(path, products.map((product) => JSON.stringify(product)).join('\n'));
    const environment = { DATABASE_URL: services.database.urls.catalogue };
    return await importProducts(environment, { path, refused: join(folder, 'refused') });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('a column of products', () => {
  it('a column of products is in the table as one that clients write, or in the list of exceptions with a reason', async () => {
    const { rows } = await database().query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = 'products'`,
    );
    const known = [...writtenColumns, ...Object.keys(notWritten)];
    expect(rows.map(({ name }) => name).sort()).toEqual(known.sort());
  });

  it.each(lines)(
    'the member %s of products is written, shown, and changes the entity tag and the version',
    async (member, { first, second: another }) => {
      const second = member === 'sku' ? another : valueFor(member, another, `TAG ${member}`);
      const sku = `TAG ${member}`;
      const id = await create(sku);
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
      const entry = [
        { member, old: valueFor(member, first, sku), ...(isDeepStrictEqual(second, []) ? {} : { new: second }) },
      ];
      const { body: history } = await client.get(`/v1/products/${id}/history`, { token });
      expect(history.items[0]?.changes).toEqual(entry);
      const [recorded] = await listProductHistory({ DATABASE_URL: services.database.urls.catalogue }, id, 1);
      expect(recorded?.changes).toEqual(entry);
    },
  );

  it.each(lines.filter(([, { type }]) => type.field('EUR').cast === 'text'))(
    'the member %s of products is rejected when it is too long, with a pointer',
    async (member) => {
      const body = { ...firstValuesOf('LONG'), [member]: 'x'.repeat(20_000) };
      const created = await client.post('/v1/products', { token, body });
      const patched = await client.patch(`/v1/products/${await create(`LONG ${member}`)}`, {
        token,
        body: { [member]: body[member] },
      });
      for (const answer of [created, patched]) {
        expect(answer.status).toBe(400);
        expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: `/${member}` })]);
      }
    },
  );

  it.each(lines.filter(([, { filter, sort }]) => filter !== undefined || sort === true))(
    'the member %s of products filters and sorts lists and searches, if the table says so',
    async (member, { filter, sort, first, second }) => {
      const values = member === 'sku' ? [`FIND 1 ${member}`, `FIND 2 ${member}`] : [first, second];
      const ids = await Promise.all(
        [0, 1].map((index) => create(`FIND ${index + 1} ${member}`, { [member]: values[index] })),
      );
      const found = async (query: string, body: object): Promise<string[][]> => {
        const listed = await client.get(`/v1/products?id=${ids.join()}&${query}&fields=id`, { token });
        const filters = { id: { in: ids }, ...('filters' in body && (body.filters as object)) };
        const search = { ...body, filters, fields: ['id'] };
        const searched = await client.post('/v1/products/search', { token, body: search });
        return [listed, searched].map((answer) => answer.body.items.map(({ id }) => id));
      };
      for (const [index, value] of values.entries()) {
        const expected = filter === undefined ? [] : [[ids[index]], [ids[index]]];
        const actual = filter && (await found(`${member}=${value}`, { filters: { [member]: { eq: value } } }));
        expect(actual ?? []).toEqual(expected);
      }
      if (sort !== true) return;
      const isReversed = typeof first === 'number' ? first > Number(second) : String(first) > String(second);
      const inOrder = isReversed ? ids.toReversed() : ids;
      const sorted = await found(`sort=${member}:asc`, { sort: [{ field: member, direction: 'asc' }] });
      expect(sorted).toEqual([inOrder, inOrder]);
    },
  );

  it.each(lines)(
    'the member %s of products is in lists, searches and events, for those who see it',
    async (member, line) => {
      const id = await create(`LIST ${member}`);
      const one = (await client.get(`/v1/products/${id}`, { token })).body[member];
      const item = { [member]: one };
      const listed = await client.get(`/v1/products?id=${id}&fields=${member}`, { token });
      expect(listed.body.items).toEqual([item]);
      const body = { filters: { id: { eq: id } }, fields: [member] };
      expect((await client.post('/v1/products/search', { token, body })).body.items).toEqual([item]);
      const forCustomers = (await client.get(`/v1/products/${id}`)).body;
      expect(member in forCustomers).toBe(line.audience !== 'staff');
      const [created] = await eventsAbout(services, id);
      const value = valueFor(member, line.first, `LIST ${member}`);
      expect(created?.data[member]).toEqual(line.inEvents === false ? undefined : value);
    },
  );

  it('a column of products is removed by null in a PATCH when it can be NULL', async () => {
    const { rows } = await database().query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = 'products' AND is_nullable = 'YES'`,
    );
    const nullable = rows.map(({ name }) => name);
    const optional = writtenLines.filter(({ column }) => nullable.includes(column)).map(({ member }) => member);
    const id = await create('NULL');
    const body = Object.fromEntries(optional.map((member) => [member, null]));
    expect(await client.patch(`/v1/products/${id}`, { token, body })).toMatchObject({ status: 200 });
    const { body: after } = await client.get(`/v1/products/${id}`, { token });
    expect(optional.filter((member) => member in after)).toEqual([]);
  });

  it('a column of products is changed, kept or removed by a line of an import that has another value, or lacks it', async () => {
    const changes = lines.filter(([member]) => member !== 'sku');
    const changed = changes.map(([member, { second }]) => {
      const { sku: externalKey, ...values } = firstValuesOf(`IN ${member}`);
      return { ...values, [member]: valueFor(member, second, `IN ${member}`), externalKey };
    });
    const { name, brand, category, price } = firstValuesOf('KEPT');
    const lacking = { externalKey: 'KEPT', name, brand, category, price };
    const ids = await Promise.all([...changed, lacking].map(({ externalKey }) => create(String(externalKey))));
    const read = () => Promise.all(ids.map(async (id) => (await client.get(`/v1/products/${id}`, { token })).body));
    const before = await read();
    const result = await importLines([...changed, lacking]);
    expect(result).toMatchObject({ changed: ids.length, refused: 0 });
    const after = await read();
    for (const [index, [member, { second: another }]] of changes.entries()) {
      const second = valueFor(member, another, `IN ${member}`);
      const expected = member === 'stock' ? expect.objectContaining({ onHand: second }) : second;
      expect([member, after[index]?.[member] ?? []]).toEqual([member, expected]);
      const events = await eventsAbout(services, ids[index] ?? '');
      expect(events.some(({ type }) => type === 'product.updated.v1')).toBe(member !== 'stock');
    }
    const isKept = ({ member, required, keptByImport }: (typeof writtenLines)[number]): boolean =>
      member === 'sku' || required === true || keptByImport === true;
    for (const line of writtenLines) {
      const kept = isKept(line) ? before.at(-1)?.[line.member] : undefined;
      expect([line.member, after.at(-1)?.[line.member]]).toEqual([line.member, kept]);
    }
  });

  it('a column of products changes the version also in a session whose search path lacks the schema', async () => {
    const id = await create('PATH');
    const update = 'UPDATE catalogue.products SET price_minor = price_minor + 1 WHERE id = $1 RETURNING version::int';
    const { rows } = await withClient({ url: services.database.adminUrl }, async (connection) => {
      await connection.query('SET search_path TO public');
      return connection.query<{ version: number }>(update, [id]);
    });
    expect(rows).toEqual([{ version: 2 }]);
  });

  it.each(['csv', 'ndjson'])(
    'a column of products is preserved when an export as %s is imported into another shop',
    async (format) => {
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
    },
  );
});
