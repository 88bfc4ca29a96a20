// product.created.v1 and product.updated.v1
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { importProducts } from '../src/operator/index.ts';
import { eventsAbout, predecessorsOf } from './outbox.ts';
import { staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;
let token: string;
let folder: string;

beforeAll(async () => {
  [services, folder] = await Promise.all([startServices(['catalogue']), mkdtemp(join(tmpdir(), 'shop-events-'))]);
  ({ client } = services.service('catalogue'));
  token = await staffToken(services);
});
afterAll(async () => {
  await services.stop();
  await rm(folder, { recursive: true, force: true });
});

const cup = { name: 'Cup', brand: 'Acme', category: 'kitchen', price: 4.5 };
const create = async (body: object, headers = {}): Promise<string> =>
  (await client.post('/v1/products', { token, body: { ...cup, ...body }, headers })).body.id;
const patch = (id: string, body: object, headers = {}) => client.patch(`/v1/products/${id}`, { token, body, headers });
const query = (text: string) => services.service('catalogue').database.query(text);
const typesAbout = async (id: string) => (await eventsAbout(services, id)).map(({ type }) => type);

describe('product.created.v1', () => {
  it('a product.created.v1 event contains the product as customers see it', async () => {
    const id = await create({
      description: 'Holds tea',
      rating: 4.5,
      status: 'active',
      stock: 7,
      lowStockThreshold: 2,
    });
    const data = { ...cup, currency: 'EUR', description: 'Holds tea', rating: 4.5, status: 'active', inStock: true };
    expect(await eventsAbout(services, id)).toEqual([
      { type: 'product.created.v1', sequence: 1, data: { productId: id, ...data } },
    ]);
  });

  it('the event product.created.v1 omits absent members, and reports a new product below its threshold as created only', async () => {
    const id = await create({ lowStockThreshold: 2 });
    expect(await eventsAbout(services, id)).toEqual([
      {
        type: 'product.created.v1',
        sequence: 1,
        data: { productId: id, ...cup, currency: 'EUR', status: 'available', inStock: false },
      },
    ]);
  });

  it('the event product.created.v1 is written once for a repeated request, with its request id, and is published without a consumer', async () => {
    const headers = { 'Idempotency-Key': 'cup', 'X-Request-Id': 'request-of-staff' };
    const id = await create({ stock: 1 }, headers);
    expect(await create({ stock: 1 }, headers)).toBe(id);
    await eventually(async () => {
      const { rows } = await query(
        `SELECT request_id, traceparent IS NOT NULL AS traced, problem, published_at IS NOT NULL AS published
         FROM outbox WHERE subject = '${id}'`,
      );
      expect(rows).toEqual([{ request_id: 'request-of-staff', traced: true, problem: null, published: true }]);
    });
  });
});

describe('product.updated.v1', () => {
  it('the event product.updated.v1 has the product after the change, and the version of the change', async () => {
    const id = await create({ stock: 7, rating: 3 });
    await patch(id, { price: 5, rating: null });
    expect((await eventsAbout(services, id))[1]).toEqual({
      type: 'product.updated.v1',
      sequence: 2,
      data: { productId: id, ...cup, price: 5, currency: 'EUR', status: 'available', inStock: true },
    });
  });

  it('the event product.updated.v1 is not written when only units move, when nothing changes, and when the change is rejected', async () => {
    const id = await create({ stock: 7 });
    await patch(id, { stock: { adjust: 3 } });
    await patch(id, { price: 4.5 });
    expect((await patch(id, { price: 5 }, { 'If-Match': '"9"' })).status).toBe(412);
    expect((await patch(id, { price: 5, stock: { set: 9, expected: 9 } })).status).toBe(409);
    expect((await patch(id, { price: 5.001 })).status).toBe(400);
    expect(await typesAbout(id)).toEqual(['product.created.v1']);
  });

  it('the event product.updated.v1 is written when only the threshold changes', async () => {
    const id = await create({ stock: 7 });
    await patch(id, { lowStockThreshold: 3 });
    expect(await typesAbout(id)).toEqual(['product.created.v1', 'product.updated.v1']);
  });

  it('the event product.updated.v1 is published with stock.changed.v1 when the product sells out by the same change', async () => {
    const id = await create({ stock: 7 });
    await patch(id, { price: 5, stock: { adjust: -7 } });
    const events = (await eventsAbout(services, id)).map(({ type, sequence, data }) => [type, sequence, data.inStock]);
    expect(events).toEqual([
      ['product.created.v1', 1, true],
      ['product.updated.v1', 2, false],
      ['stock.changed.v1', 3, false],
    ]);
    expect(await predecessorsOf(services, id)).toEqual([null, 1, 2]);
    expect((await query(`SELECT version::int FROM products WHERE id = '${id}'`)).rows).toEqual([{ version: 3 }]);
  });

  it('the event product.updated.v1 is written once for each of concurrent changes, with a version of its own', async () => {
    const id = await create({ stock: 7 });
    await Promise.all(Array.from({ length: 10 }, (_, index) => patch(id, { price: index + 10 })));
    const events = await eventsAbout(services, id);
    expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 11 }, (_, index) => index + 1));
    expect(events.at(-1)?.data.price).toBe((await client.get(`/v1/products/${id}`)).body.price);
  });
});

describe('an import', () => {
  const file = async (...lines: object[]) => {
    const path = join(folder, `${newId()}.ndjson`);
    await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'));
    return importProducts(
      { DATABASE_URL: services.database.urls.catalogue },
      { path, refused: join(folder, 'refused') },
    );
  };
  const idOf = async (key: string): Promise<string> =>
    (await query(`SELECT id FROM products WHERE external_key = '${key}'`)).rows[0].id;

  it('an import writes an event for each product that it adds or changes, and no event for other products', async () => {
    const line = (externalKey: string, more = {}) => ({ ...cup, externalKey, stock: 5, lowStockThreshold: 3, ...more });
    await file(line('A'), line('B'), line('C'), line('D'));
    const changes = [line('A', { price: 9 }), line('B', { stock: 2 }), line('C'), line('D', { stock: 0, price: 9 })];
    await file(...changes, line('E', { price: 1.999 }));
    const written = async (key: string) =>
      (await eventsAbout(services, await idOf(key))).map(({ type, sequence }) => `${sequence} ${type}`);
    expect(await written('A')).toEqual(['1 product.created.v1', '2 product.updated.v1']);
    expect(await written('B')).toEqual(['1 product.created.v1', '2 stock.low.v1']);
    expect(await written('C')).toEqual(['1 product.created.v1']);
    expect(await written('D')).toEqual([
      '1 product.created.v1',
      '2 product.updated.v1',
      '3 stock.changed.v1',
      '4 stock.low.v1',
    ]);
    expect(await predecessorsOf(services, await idOf('D'))).toEqual([null, 1, 2, 3]);
  });

  it('an import writes the events of a batch with its products, in few statements', async () => {
    const before = (await query('SELECT count(*)::int AS n FROM outbox')).rows[0].n;
    await file(...Array.from({ length: 2_500 }, (_, index) => ({ ...cup, externalKey: `bulk ${index}` })));
    const { rows } = await query(
      `SELECT count(*)::int AS events, count(DISTINCT created_at)::int AS batches, count(DISTINCT id)::int AS ids
       FROM outbox WHERE type = 'product.created.v1' AND subject IN (
         SELECT id::text FROM products WHERE external_key LIKE 'bulk %')`,
    );
    expect(rows).toEqual([{ events: 2_500, batches: 3, ids: 2_500 }]);
    expect((await query('SELECT count(*)::int AS n FROM outbox')).rows[0].n).toBe(before + 2_500);
  });
});
