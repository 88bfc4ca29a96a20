// GET /v1/products/{productId}/history, and the command that lists the same changes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { importProducts, listProductHistory } from '../src/operator/index.ts';

const accountId = newId();
const product = { name: 'Kettle', brand: 'Acme', category: 'kitchen', price: 19.99 };
let services: TestServices;
let client: TestClient;
let token: string;
let environment: Record<string, string>;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  ({ client } = services.service('catalogue'));
  token = await services.issuer.sign({ accountId, scopes: ['catalogue:write'] });
  environment = { DATABASE_URL: services.database.urls.catalogue };
});
afterAll(() => services.stop());

async function add(more: object = {}): Promise<string> {
  const { status, body, text } = await client.post('/v1/products', { token, body: { ...product, ...more } });
  if (status !== 201) throw new Error(text);
  return body.id;
}

async function change(id: string, body: unknown): Promise<string> {
  const answer = await client.patch(`/v1/products/${id}`, { token, body });
  expect(answer.status).toBe(200);
  return answer.headers['x-request-id'] ?? '';
}

const history = (id: string, query = '') => client.get(`/v1/products/${id}/history${query}`, { token });
const changesOf = async (id: string) => {
  const { body } = await history(id);
  return body.items.map(({ changes }) => changes);
};

describe('the history of a product', () => {
  it('the history of a product contains a price that was lowered and restored, with who, when, and both values', async () => {
    const id = await add({ stock: 5 });
    const lowered = await change(id, { price: 0 });
    const restored = await change(id, { price: 19.99 });
    const { status, body } = await history(id);
    expect(status).toBe(200);
    const author = { id: expect.any(String), createdAt: expect.any(String), by: 'staff', staffId: accountId };
    expect(body).toEqual({
      items: [
        { ...author, requestId: restored, changes: [{ member: 'price', old: 0, new: 19.99 }] },
        { ...author, requestId: lowered, changes: [{ member: 'price', old: 19.99, new: 0 }] },
        {
          ...author,
          requestId: expect.any(String),
          changes: [
            { member: 'name', new: 'Kettle' },
            { member: 'brand', new: 'Acme' },
            { member: 'category', new: 'kitchen' },
            { member: 'price', new: 19.99 },
            { member: 'status', new: 'available' },
            { member: 'stock', new: 5 },
          ],
        },
      ],
      pagination: { limit: 20, hasMore: false },
    });
    const times = body.items.map(({ createdAt }) => createdAt);
    expect([...times].sort().reverse()).toEqual(times);
  });

  it('the history of a product contains members that are added or removed, counted stock with its reason, archiving and restoring', async () => {
    const id = await add();
    await change(id, { description: 'Boils', attributes: { colour: 'red' } });
    await change(id, { description: null, attributes: { colour: null } });
    await change(id, { stock: { adjust: 3, reason: 'found' } });
    await client.call('DELETE', `/v1/products/${id}`, { token });
    await client.call('DELETE', `/v1/products/${id}`, { token });
    await change(id, { archived: false });
    await change(id, { name: 'Kettle' });
    const { body } = await history(id, '?limit=3');
    expect(body.items[2]).toMatchObject({ reason: 'found' });
    expect((await changesOf(id)).slice(0, -1)).toEqual([
      [{ member: 'archived', old: true }],
      [{ member: 'archived', new: true }],
      [{ member: 'stock', old: 0, new: 3 }],
      [
        { member: 'description', old: 'Boils' },
        { member: 'attributes', old: { colour: 'red' } },
      ],
      [
        { member: 'description', new: 'Boils' },
        { member: 'attributes', new: { colour: 'red' } },
      ],
    ]);
  });

  it('the history of a product has no entry for a change that is rejected', async () => {
    const id = await add({ stock: 1 });
    expect(
      await client.patch(`/v1/products/${id}`, { token, body: { price: 1, stock: { adjust: -2 } } }),
    ).toMatchObject({ status: 409 });
    expect((await history(id)).body.items).toHaveLength(1);
  });

  it('the history of a product contains changes by imports over HTTP and by the command, each with its author', async () => {
    const id = await add({ sku: 'KETTLE' });
    const line = (price: number) => JSON.stringify({ externalKey: 'KETTLE', ...product, price });
    const file = { token, rawBody: `${line(1)}\n`, headers: { 'Content-Type': 'application/x-ndjson' } };
    const stored = await client.post('/v1/products/imports', file);
    expect(stored.status).toBe(202);
    await eventually(async () => expect((await history(id)).body.items).toHaveLength(2));
    const folder = await mkdtemp(join(tmpdir(), 'shop-history-'));
    try {
      const path = join(folder, 'products.ndjson');
      await writeFile(path, `${line(2)}\n${JSON.stringify({ externalKey: 'KETTLE-2', ...product })}\n`);
      await importProducts(environment, { path, refused: join(folder, 'refused') });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const { body } = await history(id);
    expect(body.items.slice(0, 2)).toEqual([
      {
        id: expect.any(String),
        createdAt: expect.any(String),
        by: 'operator',
        changes: [{ member: 'price', old: 1, new: 2 }],
      },
      {
        id: expect.any(String),
        createdAt: expect.any(String),
        by: 'staff',
        staffId: accountId,
        requestId: stored.headers['x-request-id'],
        reason: `import ${stored.body.id}`,
        changes: [{ member: 'price', old: 19.99, new: 1 }],
      },
    ]);
    const listed = await listProductHistory(environment, 'KETTLE', 2);
    expect(JSON.parse(JSON.stringify(listed))).toMatchObject(body.items.slice(0, 2));
    expect(await listProductHistory(environment, id, 1)).toHaveLength(1);
    expect(await listProductHistory(environment, 'KETTLE-2', 9)).toMatchObject([{ by: 'operator' }]);
    await expect(listProductHistory(environment, 'none', 1)).rejects.toThrow('there is no product');
  });

  it('the history of a product has pages, and can be filtered by time', async () => {
    const id = await add();
    for (const price of [1, 2, 3]) await change(id, { price });
    const first = await history(id, '?limit=3');
    expect(first.body.pagination).toMatchObject({ limit: 3, hasMore: true });
    const second = await history(id, `?limit=3&cursor=${first.body.pagination.nextCursor}`);
    expect(second.body.items).toHaveLength(1);
    const createdAt = first.body.items[0]?.createdAt;
    const newest = await history(id, `?createdAt=gte:${createdAt}`);
    expect(newest.body.items[0]).toEqual(first.body.items[0]);
    expect((await history(id, `?createdAt=gt:${createdAt}`)).body.items).toEqual([]);
    expect((await history(id, '?sort=price:asc')).status).toBe(400);
  });

  it('customers cannot read the history of a product, and an unknown product returns 404', async () => {
    const id = await add();
    expect((await client.get(`/v1/products/${id}/history`)).status).toBe(401);
    expect((await client.get(`/v1/products/${id}/history`, { token: await services.issuer.sign() })).status).toBe(403);
    expect((await history(newId())).status).toBe(404);
  });
});
