// DELETE /v1/products/{productId}: archived products, their orders, and how they are restored.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestClient } from '@shop/shared/testing';
import { exportProducts, importProducts } from '../src/operator/index.ts';
import { type Inventory, startInventory } from './inventory.ts';
import { eventsAbout } from './outbox.ts';
import { addProducts, staffToken } from './products.ts';

let inventory: Inventory;
let client: TestClient;
let token: string;

beforeAll(async () => {
  inventory = await startInventory();
  ({ client } = inventory.services.service('catalogue'));
  token = await staffToken(inventory.services);
});
afterAll(() => inventory.stop());

const add = async (product: object = {}): Promise<string> =>
  String((await addProducts(inventory.services, [{ name: 'Cup', stock: 5, ...product }]))[0]);
const archive = (id: string, headers = {}) => client.call('DELETE', `/v1/products/${id}`, { token, headers });
const restore = (id: string) => client.patch(`/v1/products/${id}`, { token, body: { archived: false } });
const view = (id: string) => client.get(`/v1/products/${id}`, { token });
const namesIn = async (query: string, as: { token?: string } = {}) =>
  (await client.get(`/v1/products?${query}`, as)).body.items.map(({ name }) => name);

describe('204', () => {
  it('DELETE /v1/products/{productId} hides the product from customers, who get the response for an unknown product', async () => {
    const id = await add({ name: 'Samovar', brand: 'Tula' });
    expect(await archive(id)).toMatchObject({ status: 204, text: '' });
    const unknown = await client.get(`/v1/products/${newId()}`);
    expect(await client.get(`/v1/products/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'not-found', detail: unknown.body.detail },
    });
    const queries = [`id=${id}`, 'name=Samovar', 'q=samovar', 'brand=Tula', 'brand=Tula&status=available,pending'];
    for (const query of queries) expect(await namesIn(query)).toEqual([]);
    const body = { filters: { or: [{ name: { eq: 'Samovar' } }] } };
    expect((await client.post('/v1/products/search', { body })).body.items).toEqual([]);
    expect((await client.get('/v1/brands')).text).not.toContain('Tula');
  });

  it('an archived product is visible to staff with its status, and staff can filter by it', async () => {
    const id = await add({ name: 'Urn', status: 'backorder' });
    const other = await add({ name: 'Urn', status: 'pending' });
    const { body: before } = await view(id);
    await archive(id);
    const { body: after } = await view(id);
    expect(after).toEqual({ ...before, archived: true, updatedAt: expect.any(String) });
    expect((await view(other)).body).not.toHaveProperty('archived');
    const ids = async (query: string) =>
      (await client.get(`/v1/products?name=Urn${query}`, { token })).body.items.map((product) => product.id);
    expect(await ids('')).toEqual([other, id]);
    expect(await ids('&archived=true')).toEqual([id]);
    expect(await ids('&archived=false')).toEqual([other]);
    expect(await ids('&status=pending')).toEqual([other]);
    expect(await ids('&status=backorder')).toEqual([id]);
    const body = { filters: { archived: { eq: true }, name: { eq: 'Urn' } }, fields: ['archived', 'status'] };
    const found = await client.post('/v1/products/search', { token, body });
    expect(found.body.items).toEqual([{ archived: true, status: 'backorder' }]);
  });

  it('repeating the archiving or restoring of a product has no further effect; each has one version and one event', async () => {
    const id = await add({ status: 'pending' });
    for (const headers of [{ 'If-Match': '"1"' }, {}, { 'If-Match': '"1"' }])
      expect((await archive(id, headers)).status).toBe(204);
    expect((await view(id)).headers.etag).toBe('W/"2.5.0"');
    expect(await restore(id)).toMatchObject({
      status: 200,
      headers: { etag: 'W/"3.5.0"' },
      body: { status: 'pending' },
    });
    expect((await restore(id)).headers.etag).toBe('W/"3.5.0"');
    const events = await eventsAbout(inventory.services, id);
    expect(events.map(({ type, sequence }) => `${sequence} ${type}`)).toEqual([
      '1 product.created.v1',
      '2 product.archived.v1',
      '3 product.updated.v1',
    ]);
    expect(events[1]?.data).toEqual({ productId: id });
  });

  it('other changes of an archived product do not restore it, and their events have a status that is not sold', async () => {
    const id = await add({ status: 'active' });
    await archive(id);
    const { body } = await client.patch(`/v1/products/${id}`, { token, body: { price: 12, status: 'available' } });
    expect(body).toMatchObject({ archived: true, status: 'available', price: 12 });
    expect((await client.get(`/v1/products/${id}`)).status).toBe(404);
    expect((await eventsAbout(inventory.services, id)).at(-1)?.data).toMatchObject({ status: 'pending', price: 12 });
    const restored = await client.patch(`/v1/products/${id}`, { token, body: { archived: false, price: 13 } });
    expect(restored.body).toMatchObject({ status: 'available', price: 13 });
    expect(restored.body).not.toHaveProperty('archived');
    expect((await client.get(`/v1/products/${id}`)).body).toMatchObject({ status: 'available', price: 13 });
    expect((await eventsAbout(inventory.services, id)).at(-1)?.data).toMatchObject({ status: 'available', price: 13 });
  });
});

describe('refused', () => {
  it('archiving a product with a stale version, or an unknown product, is rejected', async () => {
    const id = await add();
    expect(await archive(id, { 'If-Match': '"9"' })).toMatchObject({
      status: 412,
      body: { code: 'precondition-failed' },
    });
    expect((await archive(id, { 'If-None-Match': '*' })).status).toBe(412);
    expect((await view(id)).body).not.toHaveProperty('archived');
    expect((await archive(id, { 'If-Match': 'W/"1.5.0"' })).status).toBe(204);
    expect((await archive(newId())).status).toBe(404);
  });

  it.each([true, null, 'false'])('a patch with archived: %j is rejected', async (archived) => {
    const answer = await client.patch(`/v1/products/${await add()}`, { token, body: { archived } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/archived' }] } });
  });

  it('a customer who filters by archived products or selects the member is rejected', async () => {
    for (const query of ['archived=true', 'fields=archived']) {
      const answer = await client.get(`/v1/products?${query}`);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('archived')]);
    }
  });
});

describe('orders', () => {
  it('orders for an archived product are rejected as for an unknown one', async () => {
    const [id, other] = [await add(), await add()];
    await archive(id);
    const answer = await inventory.reserve(newId(), { [id]: 1, [other]: 1 });
    expect(answer).toMatchObject({ status: 422, body: { code: 'product-not-available', errors: [{ productId: id }] } });
    expect(await inventory.figures(other)).toBe('5/0/0');
    await restore(id);
    expect((await inventory.reserve(newId(), { [id]: 1 })).status).toBe(200);
  });

  it.each(['active', 'backorder'])(
    'orders that have a product (%s) before it is archived give back or assign its units',
    async (status) => {
      const id = await add({ status });
      const [kept, cancelled] = [newId(), newId()];
      await inventory.reserve(kept, { [id]: 2 });
      await inventory.reserve(cancelled, { [id]: status === 'backorder' ? 7 : 3 });
      await archive(id);
      expect((await inventory.reserve(kept, { [id]: 2 })).body.state).toBe('held');
      expect((await inventory.release(cancelled)).status).toBe(204);
      expect((await inventory.allocate(kept)).status).toBe(204);
      expect(await inventory.figures(id)).toBe('5/2/0');
      expect((await inventory.verify()).faults).toEqual([]);
    },
  );

  it('orders that race with the archive a thousand times are each placed or rejected, and the stock adds up', async () => {
    const outcomes = { placed: 0, refused: 0 };
    for (let round = 0; round < 50; round += 1) {
      const ids = await Promise.all(Array.from({ length: 20 }, () => inventory.product(3)));
      await Promise.all(
        ids.map(async (id, index) => {
          const calls = [() => archive(id), () => inventory.reserve(newId(), { [id]: 2 })] as const;
          const [first, second] = (round + index) % 2 === 0 ? [calls[1], calls[0]] : calls;
          const begun = first();
          // For every fifth pair, the second request starts after the first one has ended, so that each of them wins
          // sometimes on any machine.
          if (index % 5 === 0) await begun;
          const answers = await Promise.all([begun, second()]);
          const reserved = answers.find(({ status }) => status !== 204);
          expect(answers.map(({ status }) => status)).toContain(204);
          expect([200, 422]).toContain(reserved?.status);
          const isPlaced = reserved?.status === 200;
          outcomes[isPlaced ? 'placed' : 'refused'] += 1;
          expect(await inventory.figures(id)).toBe(isPlaced ? '3/2/0' : '3/0/0');
        }),
      );
    }
    expect(outcomes.placed + outcomes.refused).toBe(1_000);
    expect(Math.min(outcomes.placed, outcomes.refused)).toBeGreaterThan(0);
    expect((await inventory.verify()).faults).toEqual([]);
  });
});

it('an import changes an archived product and leaves it archived, and an export leaves it out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shop-archive-'));
  const environment = { DATABASE_URL: inventory.services.database.urls.catalogue };
  const path = join(folder, 'products.ndjson');
  const line = { externalKey: 'OLD', name: 'Old', brand: 'Acme', category: 'things', price: 1, status: 'active' };
  const bring = async (change: object) => {
    await writeFile(path, JSON.stringify({ ...line, ...change }));
    return importProducts(environment, { path, refused: join(folder, 'refused') });
  };
  await bring({});
  const [{ id = '' } = {}] = (await client.get('/v1/products?name=Old')).body.items;
  await archive(id);
  expect(await bring({})).toMatchObject({ changed: 0, unchanged: 1 });
  expect(await bring({ price: 2, status: 'backorder' })).toMatchObject({ changed: 1 });
  expect((await view(id)).body).toMatchObject({ price: 2, status: 'backorder', archived: true });
  expect((await eventsAbout(inventory.services, id)).at(-1)?.data).toMatchObject({ price: 2, status: 'pending' });
  await exportProducts(environment, { path });
  expect(await readFile(path, 'utf8')).not.toContain('"Old"');
  expect((await restore(id)).body).toMatchObject({ price: 2, status: 'backorder' });
  await rm(folder, { recursive: true, force: true });
});
