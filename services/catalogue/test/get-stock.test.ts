// GET /v1/products/{productId}/stock
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Inventory, startInventory } from './inventory.ts';
import { staffToken } from './products.ts';

let inventory: Inventory;
let token: string;

beforeAll(async () => {
  inventory = await startInventory();
  token = await staffToken(inventory.services);
});
afterAll(() => inventory.stop());

const read = (id: string, who: string | undefined = token) =>
  inventory.services.service('catalogue').client.get(`/v1/products/${id}/stock`, who === '' ? {} : { token: who });

it('GET /v1/products/{productId}/stock shows the units on hand, those promised to orders, and the others', async () => {
  const cup = await inventory.product(5);
  await inventory.reserve(newId(), { [cup]: 2 });
  const answer = await read(cup);
  expect([answer.status, answer.body]).toEqual([200, { productId: cup, onHand: 5, promised: 2, available: 3 }]);
  expect(answer.headers['cache-control']).toBe('private, no-cache');
});

it('GET /v1/products/{productId}/stock shows units that are promised beyond those on hand', async () => {
  const cup = await inventory.product(1, 'backorder');
  await inventory.reserve(newId(), { [cup]: 3 });
  expect((await read(cup)).body).toEqual({ productId: cup, onHand: 1, promised: 3, available: 0 });
});

it('GET /v1/products/{productId}/stock requires a token, the scope and an existing product', async () => {
  const cup = await inventory.product(1);
  expect((await read(cup, '')).status).toBe(401);
  expect((await read(cup, await inventory.services.issuer.sign())).status).toBe(403);
  for (const unknown of [newId(), 'x']) expect((await read(unknown)).status).toBe(404);
});
