// GET /v1/products/{productId}
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

let services: TestServices;
let client: TestClient;
let id: string;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  [id = ''] = await addProducts(services, [{ name: 'Kettle', price: 0.5, description: 'Boils "water"', stock: 1 }]);
});

afterAll(() => services.stop());

describe('200', () => {
  it('GET /v1/products/{productId} returns the product, and of its stock only whether it is in stock', async () => {
    const { body, headers } = await client.get(`/v1/products/${id}`);
    expect(headers.etag).toBe('"1"');
    expect(body).toEqual({
      id,
      name: 'Kettle',
      description: 'Boils "water"',
      brand: 'Acme',
      category: 'things',
      price: 0.5,
      currency: 'EUR',
      status: 'available',
      inStock: true,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
    });
  });

  it('GET /v1/products/{productId} returns the product when the client has another version', async () => {
    const answer = await client.get(`/v1/products/${id}`, { headers: { 'If-None-Match': '"0"' } });
    expect(answer.status).toBe(200);
  });
});

describe('304', () => {
  it.each(['"1"', 'W/"1"', '"0", "1"', '*'])(
    'GET /v1/products/{productId} returns 304 when the client sends %s',
    async (tag) => {
      const answer = await client.get(`/v1/products/${id}`, { headers: { 'If-None-Match': tag } });
      expect(answer).toMatchObject({ status: 304, text: '', headers: { etag: '"1"' } });
    },
  );
});

describe('404', () => {
  it.each([
    '00000000-0000-7000-8000-000000000000',
    'kettle',
    '1',
    "'%20OR%201=1",
    'A0000000-0000-7000-8000-000000000000',
  ])('GET /v1/products/{productId} returns 404 for %s', async (unknown) => {
    expect(await client.get(`/v1/products/${unknown}`)).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
  });
});
