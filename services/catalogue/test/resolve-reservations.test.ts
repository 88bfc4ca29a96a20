// Reservations past their expiry are resolved by the answer of orders, and stay held without an answer.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { type Inventory, startInventory } from './inventory.ts';

let inventory: Inventory;

beforeAll(async () => {
  inventory = await startInventory({ environment: { RESERVATION_SECONDS: '1' } });
});
afterAll(() => inventory.stop());
beforeEach(() => inventory.answer(() => ({ state: 'absent' })));

it('the resolver of expired reservations releases the stock when no order exists', async () => {
  const cup = await inventory.product(5);
  const id = newId();
  await inventory.reserve(id, { [cup]: 2 });
  await eventually(async () => expect(await inventory.state(id)).toBe('released'));
  expect(await inventory.figures(cup)).toBe('5/0/0');
  expect(await inventory.book(cup)).toBe('received 5, reserved 2, released 2');
});

it('the resolver of expired reservations confirms the reservation when the order exists', async () => {
  inventory.answer(() => ({ state: 'exists', orderId: newId() }));
  const cup = await inventory.product(5);
  const id = newId();
  await inventory.reserve(id, { [cup]: 2 });
  await eventually(async () => expect(await inventory.state(id)).toBe('confirmed'));
  expect(await inventory.figures(cup)).toBe('5/2/0');
});

it('a reservation stays reserved without a response of the orders service, which is called again later', async () => {
  inventory.answer(() => undefined);
  const cup = await inventory.product(5);
  const id = newId();
  await inventory.reserve(id, { [cup]: 2 });
  await eventually(() => expect(inventory.asked).toContain(id));
  expect(await inventory.state(id)).toBe('held');
  expect(await inventory.figures(cup)).toBe('5/2/0');
  inventory.answer(() => ({ state: 'absent' }));
  const { database } = inventory.services.service('catalogue');
  await database.query('UPDATE reservations SET settle_at = now() WHERE id = $1', [id]);
  await eventually(async () => expect(await inventory.state(id)).toBe('released'));
});

it('the resolver does not query confirmed reservations, or reservations before their expiry', async () => {
  const cup = await inventory.product(5);
  const [confirmed, young, due] = [newId(), newId(), newId()];
  await inventory.reserve(confirmed, { [cup]: 1 });
  await inventory.reserve(young, { [cup]: 1 });
  await inventory.reserve(due, { [cup]: 1 });
  const { database } = inventory.services.service('catalogue');
  await database.query("UPDATE reservations SET state = 'confirmed', order_id = $2 WHERE id = $1", [
    confirmed,
    newId(),
  ]);
  await database.query("UPDATE reservations SET settle_at = now() + interval '1 hour' WHERE id = $1", [young]);
  await eventually(async () => expect(await inventory.state(due)).toBe('released'));
  expect(inventory.asked).not.toContain(confirmed);
  expect(inventory.asked).not.toContain(young);
});
