// `sku`, `images` and `attributes` of products.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { eventsAbout } from './outbox.ts';
import { staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;
let token: string;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  ({ client } = services.service('catalogue'));
  token = await staffToken(services);
});
afterAll(() => services.stop());

const mug = { name: 'Mug', brand: 'Acme', category: 'kitchen', price: 4.5 };
const images = [
  { url: 'https://images.example/mug.jpg?size=2', alt: 'A blue mug' },
  { url: 'https://images.example/back.jpg', alt: '' },
];
const attributes = { colour: 'blue', dishwasherSafe: 'yes', litres: 0.4 };
const create = (body: object, headers = {}) =>
  client.post('/v1/products', { token, body: { ...mug, ...body }, headers });
const patch = (id: string, body: object, headers = {}) => client.patch(`/v1/products/${id}`, { token, body, headers });
const idOf = async (body: object): Promise<string> => (await create(body)).body.id;

describe('a product', () => {
  it('every response with a product contains its members, and customers get it without the sku', async () => {
    const created = await create({ sku: 'MUG-1', images, attributes });
    expect(created).toMatchObject({ status: 201, body: { sku: 'MUG-1', images, attributes } });
    const { id } = created.body;
    const { sku: _sku, stock: _stock, ...shown } = created.body;
    expect((await client.get(`/v1/products/${id}`, { token })).body).toEqual(created.body);
    expect((await client.get(`/v1/products/${id}`)).body).toEqual(shown);
    expect((await client.get(`/v1/products?id=${id}`)).body.items).toEqual([shown]);
    const body = { filters: { id: { eq: id } } };
    expect((await client.post('/v1/products/search', { body })).body.items).toEqual([shown]);
    expect((await client.post('/v1/products/search', { body, token })).body.items).toEqual([created.body]);
    const selected = await client.get(`/v1/products?id=${id}&fields=images,attributes`);
    expect(selected.body.items).toEqual([{ images, attributes }]);
    expect(await client.get('/v1/products?fields=sku')).toMatchObject({ status: 400 });
  });

  it('a product has no optional members when none or empty ones were given', async () => {
    for (const given of [{}, { images: [], attributes: {} }]) {
      const { body } = await create(given);
      for (const member of ['sku', 'images', 'attributes']) expect(body).not.toHaveProperty(member);
    }
  });

  it('a product is found by staff by its sku, and customers cannot filter by it', async () => {
    const id = await idOf({ sku: 'FIND, "1"', status: 'pending' });
    const asked = encodeURIComponent('"FIND, \\"1\\"",OTHER');
    expect((await client.get(`/v1/products?sku=${asked}`, { token })).body.items).toMatchObject([{ id }]);
    expect(await client.get(`/v1/products?sku=${asked}`)).toMatchObject({
      status: 400,
      body: { errors: [{ parameter: 'sku' }] },
    });
    const body = { filters: { sku: { in: ['FIND, "1"'] } } };
    expect((await client.post('/v1/products/search', { body, token })).body.items).toMatchObject([{ id }]);
    expect(await client.post('/v1/products/search', { body })).toMatchObject({ status: 400 });
  });

  it('a product is described by its events', async () => {
    const id = await idOf({ sku: 'EVENT', images, attributes });
    await patch(id, { attributes: { colour: 'red', litres: null } });
    await patch(id, { attributes: { colour: 'red' } });
    const [created, updated, ...others] = await eventsAbout(services, id);
    expect(created).toMatchObject({ type: 'product.created.v1', data: { sku: 'EVENT', images, attributes } });
    expect(updated?.data).toMatchObject({ attributes: { colour: 'red', dishwasherSafe: 'yes' } });
    expect(others).toEqual([]);
  });
});

describe('PATCH', () => {
  it('PATCH /v1/products/{productId} merges attributes, replaces images, and changes the version only for a change', async () => {
    const id = await idOf({ sku: 'PATCH', images, attributes });
    const same = await patch(id, { attributes: { litres: 0.4 }, images, sku: 'PATCH' });
    expect(same.headers.etag).toBe('W/"1.0.0"');
    const merged = await patch(
      id,
      { attributes: { litres: null, size: 5 }, images: images.slice(1) },
      { 'If-Match': 'W/"1.0.0"' },
    );
    expect(merged.body).toMatchObject({
      attributes: { colour: 'blue', dishwasherSafe: 'yes', size: 5 },
      images: images.slice(1),
    });
    expect(merged.body.attributes).not.toHaveProperty('litres');
    expect(merged.headers.etag).toBe('W/"2.0.0"');
    const removed = await patch(id, { attributes: null, images: null, sku: null });
    for (const member of ['sku', 'images', 'attributes']) expect(removed.body).not.toHaveProperty(member);
    expect(await patch(id, { images }, { 'If-Match': '"2"' })).toMatchObject({ status: 412 });
    expect((await client.get(`/v1/products/${id}`)).headers.etag).toBe('"3"');
  });

  it('PATCH /v1/products/{productId} removes the last attribute, and rejects a fifty-first', async () => {
    const id = await idOf({ attributes: { colour: 'blue' } });
    expect((await patch(id, { attributes: { colour: null } })).body).not.toHaveProperty('attributes');
    const many = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${from + index}`, 1]));
    expect(await patch(id, { attributes: many(0, 50) })).toMatchObject({ status: 200 });
    const refused = await patch(id, { attributes: many(50, 1) });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/attributes' }] } });
    expect(await patch(id, { attributes: { ...many(50, 1), a0: null } })).toMatchObject({ status: 200 });
  });
});

describe('400', () => {
  it.each([
    [{ images: Array(11).fill(images[0]) }, '/images'],
    [{ images: [{ url: 'http://images.example/a.jpg', alt: '' }] }, '/images/0/url'],
    [{ images: [{ url: 'https://images.example/a b', alt: '' }] }, '/images/0/url'],
    [{ images: [{ url: 'javascript:alert(1)', alt: '' }] }, '/images/0/url'],
    [{ images: [{ url: 'https://', alt: '' }] }, '/images/0/url'],
    [{ images: [{ url: 'https://ada:secret@a.example/', alt: '' }] }, '/images/0/url'],
    [{ images: [{ url: 'https://a<b>/', alt: '' }] }, '/images/0/url'],
    [{ images: [{ url: 'https://a.example/' }] }, '/images/0/alt'],
    [{ sku: ' ' }, '/sku'],
    [{ sku: 'x'.repeat(201) }, '/sku'],
    [{ attributes: { 'two words': 1 } }, '/attributes'],
    [{ attributes: { Colour: 'red' } }, '/attributes'],
    [{ attributes: { colour: '' } }, '/attributes/colour'],
    [{ attributes: { colour: true } }, '/attributes/colour'],
    [{ attributes: { colour: ['red'] } }, '/attributes/colour'],
    [{ attributes: { colour: 'x'.repeat(101) } }, '/attributes/colour'],
    [{ attributes: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`a${index}`, 1])) }, '/attributes'],
    [{ attributes: 'red' }, '/attributes'],
    [{ taxCategory: '' }, '/taxCategory'],
    [{ taxCategory: 'Reduced' }, '/taxCategory'],
    [{ taxCategory: 'two words' }, '/taxCategory'],
    [{ taxCategory: 'x'.repeat(51) }, '/taxCategory'],
    [{ weight: -0.001 }, '/weight'],
    [{ weight: 0.0001 }, '/weight'],
    [{ weight: 1000.001 }, '/weight'],
    [{ weight: '1' }, '/weight'],
    [{ shipped: 'no' }, '/shipped'],
    [{ shipped: 0 }, '/shipped'],
  ])('the products API returns 400 for %j', async (given, pointer) => {
    const answer = await create(given);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
    expect(answer.body.errors[0]?.pointer).toContain(pointer);
  });

  it('the products API returns 400 for names of object prototypes', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const rawBody = `{"name":"A","brand":"B","category":"C","price":1,"attributes":{"${name}":"x"}}`;
      const headers = { 'Content-Type': 'application/json' };
      expect(await client.post('/v1/products', { token, rawBody, headers })).toMatchObject({ status: 400 });
    }
  });
});

describe('409', () => {
  it('the products API returns 409 that names the other product with the sku, and changes nothing', async () => {
    const [first, second] = [await idOf({ sku: 'ONCE' }), await idOf({})];
    for (const answer of [await create({ sku: 'ONCE' }), await patch(second, { sku: 'ONCE', name: 'Other' })]) {
      expect(answer).toMatchObject({
        status: 409,
        body: { code: 'sku-in-use', errors: [{ pointer: '/sku', productId: first }] },
      });
    }
    expect((await client.get(`/v1/products/${second}`)).body.name).toBe('Mug');
    await patch(first, { sku: null });
    expect(await patch(second, { sku: 'ONCE' })).toMatchObject({ status: 200 });
  });

  it('the products API returns 409 for the id of another product as sku, by which an import finds that product', async () => {
    const [first, second] = [await idOf({}), await idOf({ sku: 'OWN' })];
    for (const answer of [await create({ sku: first }), await patch(second, { sku: first, name: 'Other' })]) {
      expect(answer).toMatchObject({
        status: 409,
        body: { code: 'sku-in-use', errors: [{ pointer: '/sku', productId: first }] },
      });
    }
    expect((await client.get(`/v1/products/${second}`, { token })).body).toMatchObject({ name: 'Mug', sku: 'OWN' });
    expect(await patch(first, { sku: first })).toMatchObject({ status: 200, body: { sku: first } });
    expect(await create({ sku: first.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) })).toMatchObject({
      status: 201,
    });
  });

  it('a 409 for a sku is returned again with the same idempotency key, also when the sku is no longer used', async () => {
    const first = await idOf({ sku: 'KEYED' });
    const key = { 'Idempotency-Key': 'sku' };
    const refused = { status: 409, body: { code: 'sku-in-use', errors: [{ pointer: '/sku', productId: first }] } };
    expect(await create({ sku: 'KEYED' }, key)).toMatchObject(refused);
    expect(await create({ sku: 'KEYED-2' }, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency-key-reused' },
    });
    await patch(first, { sku: 'FREED' });
    expect(await create({ sku: 'KEYED' }, key)).toMatchObject(refused);
  });

  it('one of two concurrent requests with the same sku returns 409', async () => {
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => create({ sku: `RACE-${round}` })));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
      const winner = answers.find(({ status }) => status === 201)?.body.id;
      for (const { status, body } of answers) if (status === 409) expect(body.errors[0]?.productId).toBe(winner);
    }
  });
});
